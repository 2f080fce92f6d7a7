// Package imports has the commands that bring entries into the journal:
//
//   - import-csv: from a table of comma-separated values
package imports
