// The server's requests and answers, as types.

export type Sides = [height: number, width: number];
/** sides of a grid of cells, or the name of an environment's variant */
export type Size = Sides | string;
export type Span = [start: number, end: number];
export type Outcome = "halted" | "ended" | "cut-off" | "stuck";

export interface TaskInfo {
  name: string;
  title: string;
  summary: string;
  /** the heading that it is listed under */
  group: string;
  /** its index in `About.languages` */
  language: number;
  /** null: the task has no grid of cells, but may have variants */
  size: Sides | null;
  smallest: Sides | null;
  resizable: boolean;
  variants: string[];
  horizon: number;
  /** the return that counts as solved, if there is one */
  best: number | null;
  /** what an initial state is called */
  unit: "world" | "episode";
  /** whether the page, and the user, can draw its worlds */
  drawn: boolean;
  /** whether its programs are on the map */
  mapped: boolean;
  /** default number of episodes in which a program is scored */
  episodes: number;
  search: { budget: number; worlds: number | null };
  methods: { name: string; title: string }[];
  /** perceptions that read the environment, not the observation */
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
  /** words of the program that its language in `About` does not list */
  words: Record<string, TokenKind>;
  /** privileged perceptions that the program uses */
  privileged: string[];
  distance?: number;
  /** number of requested episodes, if fewer were run */
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
  /** null: the rollout reached the time limit */
  outcome: Outcome | null;
  return: number | null;
  shown: number;
  total: number;
  horizon: number;
}

/** a rollout of an environment; its pictures are fetched when they are shown */
export interface EpisodeData extends RolloutData {
  /** before each step, and at the end */
  states: string[];
}

/** a rollout of Karel; the page draws its world */
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

export type Point = [x: number, y: number];

export interface SpaceMap {
  points: [x: number, y: number, program: string][];
  explained: [number, number];
}

export interface Walk {
  programs: string[];
  points: Point[];
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
  population?: Point[];
}

export interface SearchEnd {
  program: string;
  words?: Record<string, TokenKind>;
  return: number;
  /** return at each of the other sizes */
  elsewhere: Record<string, number>;
  search_return: number;
  evaluations: number;
  seconds: number;
  solved: boolean;
}
