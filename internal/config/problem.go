package config

import (
	"errors"
	"fmt"
	"strings"

	"company/internal/company"
)

const (
	maxProblems      = 10 // that one error lists
	maxTrustRequests = 60 // that one refusal of an untrusted file lists: each by name
)

// problem is one fault of a config.
type problem struct {
	at    string // file:line:column, the variable, the flag
	key   string // workers.max; empty where there is none
	what  string // the fault
	found string // the found value; empty where it is clear or must not be shown
	fix   string // the allowed values, or what to do
	code  company.Code
}

func (p problem) formatLine() string {
	var b strings.Builder
	b.WriteString(p.at + ": ")
	if p.key != "" {
		b.WriteString(p.key + " ")
	}
	b.WriteString(p.what)
	if p.found != "" {
		b.WriteString(", found " + p.found)
	}
	return b.String()
}

type problems []problem

// Problem is one fault of a config, for programs.
type Problem struct {
	At   string `json:"at"`            // file:line:column, the variable, the flag
	Key  string `json:"key,omitempty"` // workers.max; empty where there is none
	What string `json:"what"`          // the fault, and the found value
	Fix  string `json:"fix"`           // the allowed values, or what to do
}

// configError is an error with its single problems; all of them, where the text
// of the error names ten.
type configError struct {
	err  *company.Error
	list problems
}

func (e *configError) Error() string { return e.err.Error() }
func (e *configError) Unwrap() error { return e.err }

// Problems are the single problems that Load or Check reported in err; nil
// where err is something else.
func Problems(err error) []Problem {
	var e *configError
	if !errors.As(err, &e) {
		return nil
	}
	out := make([]Problem, len(e.list))
	for i, p := range e.list {
		out[i] = Problem{At: p.at, Key: p.key, What: p.what, Fix: p.fix}
		if p.found != "" {
			out[i].What += ", found " + p.found
		}
	}
	return out
}

// asError is the problems as one error, nil for none. All that were found are
// reported, one line each, up to ten.
func (ps problems) asError(op string) error { return ps.errorUpTo(op, maxProblems) }

// errorUpTo is err with so many lines at most.
func (ps problems) errorUpTo(op string, most int) error {
	if len(ps) == 0 {
		return nil
	}
	e := &company.Error{Code: company.EConfig, Class: company.Fatal, Op: op}
	if len(ps) == 1 {
		e.Message, e.Hint = ps[0].formatLine(), ps[0].fix
		if ps[0].code != "" {
			e.Code = ps[0].code
		}
		return &configError{e, ps}
	}
	lines := []string{fmt.Sprintf("%d problems", len(ps))}
	for i, p := range ps {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(ps)-i))
			break
		}
		lines = append(lines, p.formatLine()+"; "+p.fix)
	}
	e.Message, e.Hint = strings.Join(lines, "\n  "), "correct these lines, then try again"
	return &configError{e, ps}
}

// nearestKey is the name that was most likely meant, or "".
func nearestKey(s string, names []string) string {
	return NearestName(s, names, max(2, len(s)/3))
}

// NearestName is the one of the names that is closest to s, at most so many slips
// of the hand away; "" for none.
func NearestName(s string, names []string, most int) string {
	best, dist := "", most+1
	for _, n := range names {
		if d := editDistance(strings.ToLower(s), n, dist); d < dist && d < len(n) {
			best, dist = n, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours between two names. It gives up at limit.
func editDistance(a, b string, limit int) int {
	if len(a) > len(b)+limit || len(b) > len(a)+limit {
		return limit
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
