// Package local implements the forge of an office that has none. A pull request is a record and a page in the
// office's own folder, which this package owns. The ledger holds the state of a pull request; the page is only for
// reading.
package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/lib/safedir"
)

// Forge keeps pull requests in the folder Dir of Office.
type Forge struct {
	Office *safedir.Folder // contains Dir; nil if no page was ever kept
	Dir    string          // created if missing

	commentMu sync.Mutex
}

var _ forge.Forge = (*Forge)(nil)

// Kind returns LocalKind.
func (*Forge) Kind() string { return forge.LocalKind }

// Templates lists where any forge looks for the template of a pull request: a page may be for each of them.
func (*Forge) Templates() []string {
	const name = "pull_request_template"
	return []string{".github/" + name, name, "docs/" + name, ".gitlab/merge_request_templates/default",
		".azuredevops/" + name, ".forgejo/" + name, ".gitea/" + name}
}

// Record is the file of one pull request.
type Record struct {
	SchemaVersion int            `json:"schema_version"`
	Number        int            `json:"number"`
	Office        string         `json:"office"`
	Task          company.TaskID `json:"task"`
	Title         string         `json:"title"`
	Branch        string         `json:"branch"`
	Base          string         `json:"base"`
	Head          company.OID    `json:"head"`
}

// FullPagePath returns the path of a pull request's page.
func (f *Forge) FullPagePath(number int) string { return f.Office.Join(f.pagePath(number)) }

func (f *Forge) pagePath(number int) string   { return f.Dir + "/" + strconv.Itoa(number) + ".md" }
func (f *Forge) recordPath(number int) string { return f.Dir + "/" + strconv.Itoa(number) + ".json" }
func (f *Forge) commentsPath(number int) string {
	return f.Dir + "/" + strconv.Itoa(number) + ".comments.md"
}

// Open writes the page and then the record, so that every record has a page. The number differs from the wanted one
// if that belongs to a task that the ledger does not know.
func (f *Forge) Open(_ context.Context, pr forge.PR) (forge.OpenedPR, error) {
	if pr.Number < 1 {
		return forge.OpenedPR{}, company.E(company.EInternal, "a local pull request needs a number")
	}
	number, err := f.chooseNumber(pr)
	if err != nil {
		return forge.OpenedPR{}, err
	}
	pr.Number = number
	text, err := json.MarshalIndent(Record{
		SchemaVersion: 1, Number: pr.Number, Office: pr.Office, Task: pr.Task, Title: pr.Title, Branch: pr.Branch,
		Base: pr.Base, Head: pr.Head,
	}, "", "  ")
	if err != nil {
		return forge.OpenedPR{}, err
	}
	if err := f.Office.Mkdir(f.Dir); err != nil {
		return forge.OpenedPR{}, pageWriteError(err)
	}
	if err := f.Office.WriteFile(f.pagePath(pr.Number), []byte(pr.MarkedBody()), 0o600); err != nil {
		return forge.OpenedPR{}, pageWriteError(err)
	}
	if err := f.Office.WriteFile(f.recordPath(pr.Number), append(text, '\n'), 0o600); err != nil {
		return forge.OpenedPR{}, pageWriteError(err)
	}
	return forge.OpenedPR{Number: pr.Number, URL: "file://" + f.FullPagePath(pr.Number), Base: pr.Base,
		State: company.PROpen}, nil
}

// chooseNumber returns the number of a pull request. A delivered one keeps its number. A new one gets the first
// number, starting at the wanted one, that is free or already its own. Pages can outlive a ledger that lost events
// and then assigns their numbers again.
func (f *Forge) chooseNumber(pr forge.PR) (int, error) {
	number := pr.Number
	if pr.Known > 0 {
		number = pr.Known
	}
	for {
		was, err := f.ReadRecord(number)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return number, nil
		case err != nil:
			return 0, company.E(company.EForge, fmt.Sprintf("cannot read the record of pull request %d", number)).Wrap(err).
				Fix("remove " + f.Office.Join(f.recordPath(number)) + ": it is rebuilt from the ledger")
		case was.Office == pr.Office && was.Task == pr.Task:
			return number, nil
		case pr.Known > 0:
			return 0, company.E(company.EConflict,
				fmt.Sprintf("pull request %d belongs to %s of office %s", number, was.Task, was.Office)).
				Because("so says " + f.Office.Join(f.recordPath(number))).
				Fix("move that file away: it is rebuilt from the ledger").NeedsPerson()
		}
		number++
	}
}

// ReadRecord returns the record of one pull request, or fs.ErrNotExist if there is none.
func (f *Forge) ReadRecord(number int) (Record, error) {
	var record Record
	text, err := f.Office.ReadFile(f.recordPath(number), 0)
	if err != nil {
		return record, err
	}
	if err := json.Unmarshal(text, &record); err != nil {
		return record, fmt.Errorf("read %s: %w", f.Office.Join(f.recordPath(number)), err)
	}
	return record, nil
}

func pageWriteError(err error) error {
	return company.E(company.EForge, "cannot write the pull request").Wrap(err).Fix("check the office's disk")
}

// Target returns an empty Target: the project's remote is used.
func (f *Forge) Target(context.Context) (forge.Target, error) { return forge.Target{}, nil }

// Access always allows pushes, since the branch goes to the project's remote and git checks the permission.
func (f *Forge) Access(context.Context) (forge.Access, error) { return forge.Access{Push: true}, nil }

// Feedback returns no state, because the base branch shows whether a page's branch was merged.
func (f *Forge) Feedback(_ context.Context, ref forge.Ref) (forge.Feedback, error) {
	record, err := f.ReadRecord(ref.Number)
	if errors.Is(err, fs.ErrNotExist) {
		return forge.Feedback{}, company.E(
			company.ENotFound, fmt.Sprintf("there is no page of pull request %d", ref.Number)).Wrap(forge.ErrPRGone)
	}
	if err != nil {
		return forge.Feedback{}, err
	}
	return forge.Feedback{Head: record.Head, Base: record.Base}, nil
}

// Comment adds a text to the pull request's file of comments, once per key.
func (f *Forge) Comment(_ context.Context, ref forge.Ref, key, text string) error {
	if err := ref.CheckNote(key, text); err != nil {
		return err
	}
	record, err := f.ReadRecord(ref.Number)
	if err != nil {
		return company.E(company.ENotFound, fmt.Sprintf("there is no page of pull request %d", ref.Number)).Wrap(err)
	}
	if record.Office != ref.Office || record.Task != ref.Task {
		return company.E(company.EConflict,
			fmt.Sprintf("pull request %d belongs to %s of office %s", ref.Number, record.Task, record.Office))
	}
	f.commentMu.Lock()
	defer f.commentMu.Unlock()
	file := f.commentsPath(ref.Number)
	old, err := f.Office.ReadFile(file, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return pageWriteError(err)
	}
	if strings.Contains(string(old), ref.NoteMarker(key)) {
		return nil
	}
	if err := f.Office.WriteFile(file, append(old, ref.NoteMarker(key)+"\n"+strings.TrimSpace(text)+"\n\n"...),
		0o600); err != nil {
		return pageWriteError(err)
	}
	return nil
}

// FullCommentsPath returns the path of a pull request's comments.
func (f *Forge) FullCommentsPath(number int) string { return f.Office.Join(f.commentsPath(number)) }

// Close does nothing: the ledger holds the state of a page.
func (*Forge) Close(context.Context, forge.Ref) error { return nil }

// MergePull always fails: pages are merged with git.
func (*Forge) MergePull(_ context.Context, ref forge.Ref, _ company.OID, _ string) error {
	return company.E(company.EInternal, fmt.Sprintf("pull request %d is a page, which no forge can merge", ref.Number))
}

// Issue always fails: a folder of pages has no issues.
func (*Forge) Issue(_ context.Context, number int) (forge.Issue, error) {
	return forge.Issue{}, company.E(
		company.EForge, fmt.Sprintf("there is no issue #%d: the project is not on a forge", number)).
		Fix("say what is to be done: company submit \"…\"").NeedsPerson()
}

// ClosingLine returns "": a page closes no issue.
func (*Forge) ClosingLine(company.IssueRef) string { return "" }

// Credential returns ErrNoLogin: git uses the operator's own access.
func (*Forge) Credential(context.Context) (forge.Credential, error) {
	return forge.Credential{}, forge.ErrNoLogin
}
