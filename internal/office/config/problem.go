package config

import (
	"errors"
	"fmt"
	"strings"

	"company/internal/company"
)

const (
	maxProblems      = 10 // listed in one error
	maxTrustRequests = 60 // listed in the error for an untrusted file, each by name
)

// problem is a fault in a config.
type problem struct {
	at    string // file:line:column, the variable or the flag
	key   string // such as workers.max; empty if no key is involved
	what  string // the fault
	found string // the value found; empty if obvious or secret
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

// Problem is a fault in a config, for programs.
type Problem struct {
	At   string `json:"at"`            // file:line:column, the variable or the flag
	Key  string `json:"key,omitempty"` // such as workers.max; empty if no key is involved
	What string `json:"what"`          // the fault, with the value found
	Fix  string `json:"fix"`           // the allowed values, or what to do
}

// configError is an error with its list of problems. The list is complete, while the text of the error shows a limited
// number.
type configError struct {
	err  *company.Error
	list problems
}

func (e *configError) Error() string { return e.err.Error() }
func (e *configError) Unwrap() error { return e.err }

// Problems returns the problems that Load or Check reported in err. It returns nil for any other error.
func Problems(err error) []Problem {
	var e *configError
	if !errors.As(err, &e) {
		return nil
	}
	out := make([]Problem, len(e.list))
	for i, problem := range e.list {
		out[i] = Problem{At: problem.at, Key: problem.key, What: problem.what, Fix: problem.fix}
		if problem.found != "" {
			out[i].What += ", found " + problem.found
		}
	}
	return out
}

// asError returns the problems as one error, or nil if there are none. The message lists up to maxProblems, one on
// each line.
func (ps problems) asError(op string) error { return ps.errorUpTo(op, maxProblems) }

// errorUpTo is like asError, but lists up to limit problems.
func (ps problems) errorUpTo(op string, limit int) error {
	if len(ps) == 0 {
		return nil
	}
	fault := &company.Error{Code: company.EConfig, Class: company.Fatal, Op: op}
	if len(ps) == 1 {
		fault.Message, fault.Hint = ps[0].formatLine(), ps[0].fix
		if ps[0].code != "" {
			fault.Code = ps[0].code
		}
		return &configError{fault, ps}
	}
	lines := []string{fmt.Sprintf("%d problems", len(ps))}
	for i, problem := range ps {
		if i == limit {
			lines = append(lines, fmt.Sprintf("and %d more", len(ps)-i))
			break
		}
		lines = append(lines, problem.formatLine()+"; "+problem.fix)
	}
	fault.Message, fault.Hint = strings.Join(lines, "\n  "), "correct these lines, then try again"
	return &configError{fault, ps}
}

// nearestKey returns the name that was most likely meant, or "".
func nearestKey(s string, names []string) string {
	return NearestName(s, names, max(2, len(s)/3))
}

// NearestName returns the name with the smallest edit distance to s, at most limit. It returns "" if there is none.
func NearestName(s string, names []string, limit int) string {
	best, dist := "", limit+1
	for _, n := range names {
		if d := editDistance(strings.ToLower(s), n, dist); d < dist && d < len(n) {
			best, dist = n, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, substitutions and swaps of neighbours between two names. It gives up
// beyond limit.
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
