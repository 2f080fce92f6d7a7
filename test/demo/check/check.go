// Package healthcheck judges a run of the demo from outside. It looks with eyes of
// its own: at what the Docker daemon said while the company worked, at git
// objects with the git command, and at projects by running their tests on this
// machine. It imports the standard library alone, and nothing of company: what
// company says of itself counts for nothing here. What the reviewer found is
// taken from the wire between the company and its model.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Files of the demo's folder that the checker reads.
const (
	EventsFile   = "docker-events.jsonl" // docker events --format '{{json .}}', from before the start
	FindingsFile = "findings.jsonl"      // one Finding a line
)

// Place is where a demo ran.
type Place struct {
	Dir       string // its folder, with the two files
	Repo      string // the president's checkout, which is the office's place as well
	Origin    string // the bare repository that it is pushed to
	Main      string // main at the origin before the company came
	Bystander string // id of a container that was there before
}

// State is the folder of the state of the office.
func (p Place) State() string {
	name, _ := os.ReadFile(filepath.Join(p.Repo, ".company", "office"))
	return filepath.Join(p.Dir, "state", "company", strings.TrimSpace(string(name)))
}

// Finding is one blocking remark, as the reviewer's model said it.
type Finding struct {
	Run  string `json:"run"`
	Head string `json:"head"` // short id of the commit that was reviewed
	File string `json:"file"`
	Line int    `json:"line"` // of the file at Head
	What string `json:"what"`
}

// Names of the checks.
const (
	Parallel   = "three workers at once"
	Gate       = "red gate repaired"
	Reviewed   = "finding repaired"
	Conflict   = "conflict resolved"
	Tested     = "what was tested is what was pushed"
	Passes     = "the pushed branch passes its tests"
	Unmoved    = "main unmoved"
	Containers = "nothing left, nothing foreign gone"
)

// Result is what one check says. Seen is what it saw; Err is why it failed.
type Result struct {
	Name string
	Seen string
	Err  error
}

func (r Result) String() string {
	if r.Err != nil {
		return fmt.Sprintf("FAILED %-36s %s", r.Name, strings.ReplaceAll(r.Err.Error(), "\n", "\n       "))
	}
	return fmt.Sprintf("ok     %-36s %s", r.Name, r.Seen)
}

// limit bounds one check.
const limit = 3 * time.Minute

// Run does the checks, all or the named ones, and prints each to w (nil:
// nowhere) as it ends.
func Run(ctx context.Context, p Place, w io.Writer, names ...string) []Result {
	var out []Result
	e, err := newEyes(ctx, p)
	if err != nil {
		// Without eyes every check fails, by name.
		e = nil
	} else {
		defer e.close()
	}
	for _, c := range []struct {
		name string
		do   func(*eyes, context.Context) (string, error)
	}{
		{Parallel, (*eyes).parallel}, {Gate, (*eyes).gate}, {Reviewed, (*eyes).reviewed}, {Conflict, (*eyes).conflict},
		{Tested, (*eyes).tested}, {Passes, (*eyes).passes}, {Unmoved, (*eyes).unmoved}, {Containers, (*eyes).containers},
	} {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		r := Result{Name: c.name, Err: err}
		if e != nil {
			cctx, cancel := context.WithTimeout(ctx, limit)
			r.Seen, r.Err = c.do(e, cctx)
			cancel()
		}
		if w != nil {
			fmt.Fprintln(w, r)
		}
		out = append(out, r)
	}
	return out
}

// eyes is what the checks look with.
type eyes struct {
	Place
	boxes    []box
	findings []Finding
	mirror   string // the company's own bare repository: it has the trees that were only tried
	branch   string // the integration branch at the origin
	head     string // and its object id
	office   string
	temp     string
	ran      map[string]verdict // of commands on trees, so that nothing runs twice
}

func newEyes(ctx context.Context, p Place) (*eyes, error) {
	e := &eyes{Place: p, ran: map[string]verdict{}}
	var err error
	if e.findings, err = readFindings(p.Dir); err != nil {
		return nil, err
	}
	if e.mirror, err = findMirror(p.State()); err != nil {
		return nil, err
	}
	refs, err := e.git(ctx, p.Origin, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(refs) {
		if name, id, _ := strings.Cut(strings.TrimSpace(line), " "); name != "main" {
			if e.branch != "" {
				return nil, fmt.Errorf("the origin has more branches than main and one: %s", refs)
			}
			e.branch, e.head = name, id
		}
	}
	if e.branch == "" {
		return nil, errors.New("nothing was pushed: the origin has main alone")
	}
	// The branch carries the name of its office, and so does each container:
	// other companies may be at work on this machine.
	e.office = e.branch[strings.LastIndex(e.branch, "-")+1:]
	if e.boxes, err = readBoxes(p.Dir, e.office); err != nil {
		return nil, err
	}
	e.temp, err = os.MkdirTemp("", "company-demo-check-")
	return e, err
}

func (e *eyes) close() { _ = os.RemoveAll(e.temp) }
