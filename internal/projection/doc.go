// Package projection writes files for people from the state: tickets, the state
// of each task, verdicts in results. It owns when they are written and what is
// told of those that cannot be. What runs leave of files is written behind them, and made
// again from the record where a kill or a power cut has taken it. It reads none of them back but to see whether
// they are out of date; ParseExecutionState reads the state of a task for others.
package projection
