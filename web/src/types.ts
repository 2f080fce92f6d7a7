// The shapes of internal/present/view, as the API sends them. Fields are added over time, never
// taken away; what the page does not show is left out here.

export interface Attachment {
  name: string;
  type: string;
  bytes: number;
  width?: number;
  height?: number;
}

export interface Project {
  id: string;
  path: string;
  remote?: string;
}

export interface Base {
  branch: string;
  oid: string;
  pr_branch: string;
  dirty?: boolean;
  ahead?: number;
}

export interface PullRequest {
  number: number;
  task: string;
  state: string;
  title: string;
  branch: string;
  base: string;
  head: string;
  url?: string;
  branch_change?: { kind?: string; commits?: number } | null;
}

export interface Cap {
  micro_usd: number | null;
  tokens: number | null;
}

/** Awaited is a task that another one waits for, before it begins. */
export interface Awaited {
  task: string;
  status: string;
  pr?: number;
  pr_state?: string;
}

/** Hold is work of a task that does not begin now, and the reason. */
export interface Hold {
  subtask?: string;
  kind: string;
  tasks?: string[];
  until?: string;
  text: string;
  error?: string;
}

export interface Task {
  id: string;
  status: string;
  phase: string;
  paused: boolean;
  resting?: boolean; // no company is at work on it
  paused_subtasks: string[];
  dry_run?: boolean;
  instruction: string;
  issue?: { url?: string } | null;
  attachments?: Attachment[];
  project: Project;
  after?: string[];
  waits_for?: Awaited[];
  waits?: Hold[];
  priority: string;
  tags: string[];
  deadline: string | null;
  due_in_ms: number | null;
  reason?: string;
  submitted: string;
  updated: string;
  ended: string | null;
  duration_ms: number;
  waves: number;
  subtasks: number;
  merged: number;
  running: number;
  base: Base | null;
  integration_branch?: string;
  head?: string;
  evidence: string;
  untested_why?: string;
  unverified?: string[];
  cost_micro_usd: number | null;
  cap_micro_usd: number | null;
  tokens: number;
  cap_tokens: number | null;
  holds?: Cap | null;
  pr: PullRequest | null;
}

/** Option is one way to answer a question. */
export interface Option {
  name: string;
  means: string;
  input?: "words" | "needs_words" | "amount";
  confirm?: boolean;
}

export interface Approval {
  id: string;
  kind: string;
  task: string;
  subtask?: string;
  question: string;
  options: Option[];
  asked: string;
  answered: string | null;
  option?: string;
  text?: string;
  line?: ConfigLine;
  next?: string;
  details?: string[];
}

/** ConfigLine is a line of the config that the answer "write" writes, once the question has named it. */
export interface ConfigLine {
  key: string;
  value: string;
  why?: string;
  file?: string;
  text?: string;
}

export interface Cache {
  input_tokens: number;
  cached_tokens: number;
  percent: number;
}

export interface Run {
  id: string;
  role: string;
  task: string;
  subtask?: string;
  title?: string;
  status: string;
  worker?: string;
  claimed: string | null;
  ended: string | null;
  duration_ms: number;
  earlier_ms?: number;
  turns: number;
  doing?: string;
  from?: string;
  head?: string;
  summary?: string;
  error?: string;
  cost_micro_usd: number | null;
  tokens: number;
  cache?: Cache;
  models?: { model: string; served?: string[]; cost_micro_usd: number | null; tokens: number }[];
  files: string[];
  refused: { kind: string; times: number; at_least?: boolean; what: string }[];
  words?: { at: string; text: string; read: boolean | null }[];
  briefing?: { model?: { profile?: string; adapter?: string; model?: string } };
}

export interface Check {
  name: string;
  command: string;
  verdict: string;
  exit_code: number;
  took_ms: number;
  output?: string;
  absence?: string;
  slow?: string;
  beside?: string;
  counts?: { passed: number; failed: number; skipped: number };
  tests?: { name: string; status: string; message?: string; known?: boolean }[];
  flaky?: string[];
  gone?: string[];
  canary?: { proven?: string[]; hollow?: string[]; blind?: string[]; reason?: string };
}

export interface Gate {
  head: string;
  onto: string;
  tree: string;
  passed: boolean;
  untested: boolean;
  cached: boolean;
  conflict: boolean;
  checks: Check[];
  stack?: string[];
  red_green?: { files: number; fresh: number; shown: number; proof?: string[]; idle?: string[]; reason?: string };
  untested_why?: string;
}

export interface Finding {
  severity: string;
  level?: string;
  category?: string;
  file: string;
  line: number;
  what: string;
  why: string;
  suggestion?: string;
}

/** JudgedFinding is a finding of any review, with what a later one said of it. */
export interface JudgedFinding extends Finding {
  head: string;
  status: "unverified" | "confirmed" | "mended" | "rejected";
  basis?: string;
  mended?: string; // the head without it
}

export interface Review {
  head: string;
  onto: string;
  verdict: string;
  findings?: Finding[];
  evidence?: string[];
  checked?: string[];
  whole?: boolean;
}

export interface Subtask {
  id: string;
  task: string;
  started: string | null; // when a worker first claimed a run of it
  wave: number;
  after: string[] | null;
  status: string;
  paused: boolean;
  question?: string;
  title: string;
  description: string;
  acceptance_criteria: string[] | null;
  write_set: string[] | null;
  effort: string;
  model?: string;
  branch?: string;
  head?: string;
  merged?: string;
  changes: { path: string; action: string }[];
  reason?: string;
  gate: Gate | null;
  review: Review | null;
  findings?: JudgedFinding[];
  attempts: number;
  runs: Run[];
}

export interface TaskDetail extends Task {
  needs_you: Approval[];
  questions: Approval[];
  plan_why?: string;
  plan: Subtask[];
  decisions: { by: string; text: string }[];
  runs: Run[];
  gates: { name: string; command: string; dir?: string }[];
  baseline: Check[];
  known_red: string[];
  gate: Gate | null;
  review: Review | null;
  review_of?: string;
  findings?: JudgedFinding[];
  failures: Record<string, { attempt: number; code?: string; error: string; hint?: string }>;
  dependencies: { ecosystem?: string; name?: string; version?: string }[];
  cache?: Cache;
}

export interface Shown {
  question?: Approval;
  run?: Run;
  subtask?: Subtask;
  task?: TaskDetail;
}

export interface Step {
  task: string;
  subtask?: string;
  doing: string;
  since: string;
  duration_ms: number;
}

export interface Overview {
  office: string;
  path: string;
  open: boolean;
  stopped: boolean;
  needs_you: Approval[];
  resting: { task?: string; subtask?: string; why: string; next: string }[];
  running: Run[];
  cost_micro_usd: number | null;
  tokens: number;
  tasks: Task[];
  open_prs: PullRequest[];
  unwritten: { file?: string; why?: string }[] | null;
  hidden_tasks?: number;
  steps: Step[];
}

export interface TaskList {
  tasks: Task[];
  more: number;
  next?: string;
}

export interface Agent {
  agent: string;
  role: string;
  model: string;
  run?: string;
  task?: string;
  subtask?: string;
  title?: string;
  turn: number;
  doing: string;
  since: string | null;
  duration_ms: number;
  reserved_micro_usd: number | null;
  reserved_tokens: number;
}

export interface Agents {
  open: boolean;
  stopped: boolean;
  workers: number;
  hired: number;
  waiting: number;
  agents: Agent[];
}

export interface Budget {
  task: string;
  cap_micro_usd: number | null;
  cap_tokens: number | null;
  cost_micro_usd: number | null;
  tokens: number;
  reserved_micro_usd: number;
  reserved_tokens: number;
  waits_for_you: boolean;
}

export interface OfficeBudget {
  scope: string;
  day?: string;
  cap_micro_usd: number | null;
  cap_tokens: number | null;
  used_micro_usd: number;
  used_tokens: number;
  used_up: boolean;
  until: string | null;
}

export interface SpendingRow {
  of: string;
  runs: number;
  cost_micro_usd: number | null;
  tokens: number;
}

export interface Spending {
  total: SpendingRow;
  by_day: SpendingRow[];
  by_model: SpendingRow[];
  by_task: SpendingRow[];
}

export interface ProjectRecord {
  id: string;
  name: string;
  work_dir: string;
  remote?: string;
  default_branch?: string;
  tasks: number;
}

export interface Work {
  office: string;
  seq: number;
  epoch: number;
  stopped: boolean;
  open: string[];
}

export type Mark = "started" | "done" | "failed" | "needs_you" | "stalled" | "info";

export interface FeedItem {
  seq?: number;
  time: string;
  task?: string;
  subtask?: string;
  run?: string;
  worker?: string;
  kind: string;
  mark: Mark;
  text: string;
  lines?: string[];
  duration_ms?: number;
  cost_micro_usd?: number | null;
  quiet?: boolean;
}

export interface TranscriptEntry {
  run?: { runId: string; messages: number; toolCalls: number; totalTokens: number };
  message?: { role: string; content: string; timestamp: string };
  toolCall?: {
    id: string;
    name: string;
    arguments: string;
    result: string;
    isError?: boolean;
    timestamp: string;
    durationMs: number;
    whole?: string;
  };
  output?: LiveOutput;
}

/** LiveOutput is what a call that is under way printed last; without lines it is over. */
export interface LiveOutput {
  id: string;
  name: string;
  about: string;
  since: string;
  lines: string[] | null;
}

export interface CommandResult {
  events: { seq: number; kind: string; task?: string }[];
  task?: string;
}
