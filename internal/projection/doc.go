// Package projection writes files for people from the state: tickets, the state
// of each task, results of runs and their verdicts. It owns when they are written, and reports
// those that cannot be. It writes the newest state of a task, and each verdict: a later run of the
// ticket takes that out of the state. Files of a run are written behind the run, and made again from the
// record where a kill or a power cut has taken them. It reads them back to bring a verdict into a
// result, and to see whether they are out of date; ParseExecutionState reads the state of a task for others.
package projection
