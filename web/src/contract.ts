// The server's requests and answers, as types.

export type Sides = [height: number, width: number];
/** of a grid of cells; or the name of an environment's variant */
export type Size = Sides | string;
export type Span = [start: number, end: number];
export type Outcome = "halted" | "ended" | "cut-off" | "stuck";

export interface TaskInfo {
  name: string;
  title: string;
  summary: string;
  /** the heading that it is listed under */
  group: string;
  /** its place in `About.languages` */
  language: number;
  /** null: it has no grid of cells, but may have variants */
  size: Sides | null;
  smallest: Sides | null;
  resizable: boolean;
  variants: string[];
  horizon: number;
  /** the return that counts as solved, if there is one */
  best: number | null;
  /** what an initial state is called */
  unit: "world" | "episode";
  /** whether the page draws its worlds, and the user can */
  drawn: boolean;
  /** whether its programs have places on the map */
  mapped: boolean;
  /** that a program is scored in, unless the user says otherwise */
  episodes: number;
  search: { budget: number; worlds: number | null };
  methods: { name: string; title: string }[];
  /** perceptions that look into the environment */
  privileged: string[];
  program: string;
}

export interface LanguageInfo {
  words: Record<string, TokenKind>;
  actions: string[];
  perceptions: string[];
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
  languages: LanguageInfo[];
  study: StudyInfo[];
  limits: { episodes: number; steps: number; characters: number; tokens: number; side: number; pictures: number };
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
  /** of the program, beyond those of its language as `About` has it */
  words: Record<string, TokenKind>;
  /** perceptions in use that look into the environment */
  privileged: string[];
  distance?: number;
  /** how many episodes were asked for, when fewer were done */
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

export interface Steps {
  statement: number[];
  value: (number | null)[];
  tests: [step: number, statement: number, holds: number][];
  /** a 1 or a 0 for each perception */
  perceived: string[];
}

export interface RolloutData {
  /** in the order of `Steps.perceived` */
  perceptions: string[];
  statements: Statement[];
  steps: Steps;
  final_tests: [statement: number, holds: number][];
  final_perceived: string;
  /** null: it took too long to be run to its end */
  outcome: Outcome | null;
  return: number | null;
  shown: number;
  total: number;
  horizon: number;
}

/** of an environment, whose pictures are asked for as they are looked at */
export interface EpisodeData extends RolloutData {
  /** before each step, and at the end */
  states: string[];
}

/** of Karel, in a world that is drawn here */
export interface WorldData extends RolloutData {
  world: World;
  exits: [row: number, column: number][];
  steps: Steps & {
    row: number[];
    column: number[];
    heading: number[];
    changes: [step: number, row: number, column: number, markers: number][];
  };
}

export interface Pictures {
  first: number;
  /** PNG files in base64 */
  pictures: string[];
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
  words?: Record<string, TokenKind>;
  population?: Place[];
}

export interface SearchEnd {
  program: string;
  words?: Record<string, TokenKind>;
  return: number;
  /** by size, if its program was to hold at others */
  elsewhere: Record<string, number>;
  search_return: number;
  evaluations: number;
  seconds: number;
  solved: boolean;
}
