// Package checks has the commands that look for what is wrong in the journal:
//
//   - check-overlap: entries that overlap
package checks
