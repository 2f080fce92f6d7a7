package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Operation is the kind of work that a claim is about.
type Operation string

const (
	OperationRun      Operation = "run"      // its evidence is the result, which names the journal
	OperationCheck    Operation = "check"    // its evidence is the output
	OperationMerge    Operation = "merge"    // its evidence is the commit, which the delivered head contains
	OperationDelivery Operation = "delivery" // its evidence is the head, whose tree the checks judged
)

// Claim is what the ledger says about one operation, with the evidence that it names.
type Claim struct {
	Operation Operation `json:"operation"`
	Of        string    `json:"of"` // the run, check, subtask or task; unique among the claims of an operation
	Says      string    `json:"says"`
	Evidence  string    `json:"evidence"`          // hash of a blob, or id of a git object
	Problem   string    `json:"problem,omitempty"` // why the evidence does not show it; empty means that it does
	// Removed means that a cleanup of old tasks removed the evidence, so that it cannot be compared any more.
	Removed bool `json:"removed,omitempty"`
}

// Verdicts of a check of evidence.
const (
	EvidenceConsistent = "CONSISTENT"
	EvidenceMissing    = company.NoEvidence
)

// EvidenceCheck is what a check of a task's evidence found.
type EvidenceCheck struct {
	SchemaVersion int                    `json:"schema_version"`
	Task          company.TaskID         `json:"task"`
	Status        company.TaskStatus     `json:"status"`
	Verdict       string                 `json:"verdict"` // CONSISTENT or NO_EVIDENCE
	CheckedAt     time.Time              `json:"checked_at"`
	Claims        []Claim                `json:"claims"`
	Head          company.OID            `json:"head,omitempty"` // the commit whose files are listed
	Tree          company.OID            `json:"tree,omitempty"`
	Files         []company.VerifiedFile `json:"files"`
	Modified      int                    `json:"files_modified_count"`
	Problems      []string               `json:"problems"`
}

// Evidence returns the result for the ledger.
func (r EvidenceCheck) Evidence() *company.Evidence {
	evidence := &company.Evidence{At: r.CheckedAt, Head: r.Head, Tree: r.Tree, Files: r.Files}
	bytes := 0
	for i, file := range r.Files {
		text, err := json.Marshal(file)
		if bytes += len(text) + 1; err != nil || bytes > company.MaxVerifiedBytes {
			evidence.Files = r.Files[:i]
			break
		}
	}
	evidence.More = r.Modified - evidence.CountModified()
	return evidence
}

// RenderText renders it for people: each claim with its evidence, the changed files, and the verdict.
func (r EvidenceCheck) RenderText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s\n\n", r.Task, r.Status.Text())
	for _, claim := range r.Claims {
		mark := "ok"
		switch {
		case claim.Problem != "":
			mark = EvidenceMissing
		case claim.Removed:
			mark = "removed"
		}
		fmt.Fprintf(&b, "  %-11s  %-8s  %s: %s", mark, claim.Operation, safetext.EscapeLine(claim.Of, 200), claim.Says)
		if claim.Evidence != "" {
			fmt.Fprintf(&b, " (%.12s)", claim.Evidence)
		}
		if claim.Problem != "" {
			b.WriteString(": " + safetext.EscapeLine(claim.Problem, 300))
		}
		b.WriteByte('\n')
	}
	for _, file := range r.Files {
		action := file.Action
		if action == "" {
			action = "as before"
		}
		fmt.Fprintf(&b, "  %-11s  %-8s  %s: %s\n", "ok", "file", safetext.EscapeLine(file.Path, 300), action)
	}
	fmt.Fprintf(&b, "\n%s: %s, %s changed", r.Verdict, company.Count(len(r.Claims), "claim"),
		company.Count(r.Modified, "file"))
	if n := len(r.Problems); n > 0 {
		fmt.Fprintf(&b, ", %s:\n", company.Count(n, "problem"))
		for _, problem := range r.Problems {
			b.WriteString("  " + safetext.EscapeLine(problem, 500) + "\n")
		}
		return b.String()
	}
	removed := 0
	for _, claim := range r.Claims {
		if claim.Removed {
			removed++
		}
	}
	switch {
	case len(r.Claims) == 0:
		b.WriteString(". There is nothing to show yet.\n")
	case removed > 0:
		fmt.Fprintf(&b, ". A cleanup of old tasks removed the evidence of %d.\n", removed)
	default:
		b.WriteString(". Each claim has its evidence.\n")
	}
	return b.String()
}
