// What the server says and is asked, as types.

export type Size = [height: number, width: number];
export type Span = [start: number, end: number];
export type Outcome = "halted" | "ended" | "cut-off" | "stuck";

export interface TaskInfo {
  name: string;
  title: string;
  summary: string;
  size: Size;
  smallest: Size;
  resizable: boolean;
  horizon: number;
  hard: boolean;
  /** one of the user's, which the command line has named */
  own: boolean;
  program: string;
}

export interface StudyInfo {
  task: string;
  program: string;
  /** mean return by number of edits, as the paper reports it */
  reported: Record<string, number>;
  note: string;
}

export interface About {
  version: string;
  tasks: TaskInfo[];
  actions: string[];
  perceptions: string[];
  keywords: string[];
  study: StudyInfo[];
  limits: { episodes: number; steps: number; characters: number; tokens: number; side: number };
  start: { task: string | null; program: string | null };
}

export interface ProgramError {
  message: string;
  span: Span;
}

export interface Invalid {
  valid: false;
  error: ProgramError;
}

export type TokenKind = "action" | "perception" | "keyword" | "count" | "bracket";

export interface Completion {
  from: number;
  options: { label: string; kind: TokenKind }[];
}

export type Check = (
  { valid: true; tokens: number; indented: string; line: string; statements: Span[] } | Invalid
) & { complete?: Completion };

export interface Scored {
  valid: true;
  returns: number[];
  mean: number;
  steps: number[];
  outcomes: Outcome[];
  worst: number;
  ms: number;
  tokens: number;
  distance?: number;
  /** how many worlds were asked for, when fewer were done */
  asked?: number;
}

export type Evaluation = Scored | Invalid;

export interface World {
  rows: string[];
  karel: [row: number, column: number, heading: number];
}

export interface Statement {
  span: Span;
  kind: "action" | "while" | "if" | "ifelse" | "repeat";
  text: string;
  path: number[];
}

export interface RolloutData {
  world: World;
  exits: [row: number, column: number][];
  statements: Statement[];
  steps: {
    statement: number[];
    row: number[];
    column: number[];
    heading: number[];
    changes: [step: number, row: number, column: number, markers: number][];
    value: (number | null)[];
    tests: [step: number, statement: number, holds: number][];
    perceived: number[];
  };
  final_tests: [statement: number, holds: number][];
  final_perceived: number;
  outcome: Outcome;
  return: number | null;
  shown: number;
  total: number;
  horizon: number;
}

export type Place = [x: number, y: number];

export interface SpaceMap {
  points: [x: number, y: number, program: string][];
  explained: [number, number];
}

export interface Walk {
  programs: string[];
  points: Place[];
  shares: number[];
}

export interface SearchStep {
  round: number;
  evaluations: number;
  seconds: number;
  mean: number;
  best: number;
  best_so_far: number;
  worlds: number;
  program?: string;
  population?: Place[];
}

export interface SearchEnd {
  program: string;
  return: number;
  /** by size, if its program was to hold at others */
  elsewhere: Record<string, number>;
  search_return: number;
  evaluations: number;
  seconds: number;
  solved: boolean;
}
