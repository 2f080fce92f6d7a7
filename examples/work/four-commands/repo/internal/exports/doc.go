// Package exports has the commands that write entries for other programs:
//
//   - export-csv: a table of comma-separated values
package exports
