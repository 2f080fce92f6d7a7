// Package reports has the commands that tell a person something:
//
//   - days: the hours of each day of a month
package reports
