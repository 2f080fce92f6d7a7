// Package projection writes readable files from the state: tickets, the state of each task, its report and its log with
// the index of all logs, results of runs and their verdicts. It decides when they are written, and reports those that
// cannot be. It writes only the newest state of a task, but every verdict, because a later run of the ticket removes it
// from the state. Files of a run are written asynchronously. If a kill or a power cut loses them, they are restored
// from the record. The files are read back only to add a verdict to a result, and to see whether they are out of date.
// ParseExecutionState reads the state of a task for other programs.
package projection
