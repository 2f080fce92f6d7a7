package check

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// box is one container, as the daemon told of it while it lived.
type box struct {
	ID, Name   string
	Run        string // whose it was: a run, or the ticket of a gate
	Role       string // worker, reviewer, merger, gate
	Started    time.Time
	Died       time.Time
	Exit       string
	Gone       bool
	Tree       string // of a gate: the short id in its name
	GateNumber string // of a gate: 0 is the linter, 1 the build, 2 the tests
	Superseded bool   // of a gate: it was red, and was run again on the same tree
}

// gateName ends with againN where a red gate was run again on the same tree,
// to see whether that was an accident.
var gateName = regexp.MustCompile(`-gate-([0-9a-f]{7,40})-([0-9]+)(-again[0-9]+)?$`)

// readBoxes reads the record of the daemon's events: the containers of an
// office in the order of their creation. Whose a container is, its labels say, which
// the daemon repeats with each event.
func readBoxes(dir, office string) ([]box, error) {
	f, err := os.Open(filepath.Join(dir, EventsFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var boxes []box
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var ev struct {
			Action   string
			TimeNano int64 `json:"timeNano"`
			Actor    struct {
				ID         string
				Attributes map[string]string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &ev); err != nil {
			return nil, fmt.Errorf("the daemon's event %q: %w", lines.Text(), err)
		}
		a := ev.Actor.Attributes
		if a["company.office"] != office {
			continue
		}
		i := slices.IndexFunc(boxes, func(b box) bool { return b.ID == ev.Actor.ID })
		if i < 0 {
			b := box{ID: ev.Actor.ID, Name: a["name"], Run: a["company.run"], Role: a["company.role"]}
			if m := gateName.FindStringSubmatch(b.Name); m != nil && b.Role == "gate" {
				b.Tree, b.GateNumber = m[1], m[2]
				for n, before := range boxes {
					if m[3] != "" && before.Run == b.Run && before.Tree == b.Tree && before.GateNumber == b.GateNumber {
						boxes[n].Superseded = true
					}
				}
			}
			boxes, i = append(boxes, b), len(boxes)
		}
		at := time.Unix(0, ev.TimeNano)
		switch ev.Action {
		case "start":
			boxes[i].Started = at
		case "die":
			boxes[i].Died, boxes[i].Exit = at, a["exitCode"]
		case "destroy":
			boxes[i].Gone = true
		}
	}
	return boxes, lines.Err()
}

func readFindings(dir string) ([]Finding, error) {
	f, err := os.Open(filepath.Join(dir, FindingsFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Finding
	for d := json.NewDecoder(f); d.More(); {
		var one Finding
		if err := d.Decode(&one); err != nil {
			return nil, err
		}
		if !slices.Contains(out, one) { // a repeated request gets the same reply
			out = append(out, one)
		}
	}
	return out, nil
}

// findMirror finds the one bare repository that the company keeps of the
// checkout's, below the folder of the office's state.
func findMirror(state string) (string, error) {
	var found []string
	err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "HEAD" && !d.IsDir() {
			bare := filepath.Dir(path)
			// Runs' quarantines are bare repositories too; the mirror is the one
			// with the integration branch.
			if refs, _ := filepath.Glob(filepath.Join(bare, "refs", "heads", "develop-*")); len(refs) > 0 {
				found = append(found, bare)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d repositories below %s have an integration branch, not one", len(found), state)
	}
	return found[0], nil
}

// of gives the containers of a role.
func (e *eyes) of(role string) []box {
	return slices.DeleteFunc(slices.Clone(e.boxes), func(b box) bool { return b.Role != role || b.Superseded })
}

// parallel: at some moment at least three workers' containers were alive.
func (e *eyes) parallel(context.Context) (string, error) {
	type edge struct {
		at    time.Time
		alive int
	}
	var edges []edge
	for _, b := range e.of("worker") {
		if !b.Started.IsZero() && !b.Died.IsZero() {
			edges = append(edges, edge{b.Started, +1}, edge{b.Died, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return a.at.Compare(b.at) })
	alive, most := 0, 0
	var from time.Time
	var full time.Duration
	for _, x := range edges {
		if alive >= 3 {
			full += x.at.Sub(from)
		}
		alive += x.alive
		most, from = max(most, alive), x.at
	}
	if most < 3 {
		return "", fmt.Errorf("at most %d workers' containers of %d were alive at once", most, len(edges)/2)
	}
	return fmt.Sprintf("%d containers, three alive for %s", len(edges)/2, full.Round(10*time.Millisecond)), nil
}

// containers: none of the company's is left, each that was made is gone, and
// the bystander runs on.
func (e *eyes) containers(ctx context.Context) (string, error) {
	if len(e.boxes) == 0 {
		return "", errors.New("the daemon tells of no container of office " + e.office)
	}
	for _, b := range e.boxes {
		if !b.Gone {
			return "", fmt.Errorf("%s was made and not removed", b.Name)
		}
	}
	left, err := command(ctx, "", nil, "docker", "ps", "-a", "--filter", "label=company.office="+e.office, "--format",
		"{{.Names}}")
	if err != nil {
		return "", err
	}
	if left != "" {
		return "", fmt.Errorf("left: %s", strings.Join(strings.Fields(left), ", "))
	}
	state, err := command(ctx, "", nil, "docker", "inspect", "--type", "container", "--format",
		"{{.Id}} {{.State.Running}} {{.RestartCount}}", e.Bystander)
	if err != nil {
		return "", fmt.Errorf("the foreign container is gone: %w", err)
	}
	if state != e.Bystander+" true 0" {
		return "", errors.New("the foreign container is not as it was: " + state)
	}
	return fmt.Sprintf("%d containers came and went; the foreign one runs on", len(e.boxes)), nil
}

// command runs a program to its end.
func command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	if env != nil {
		cmd.Env = env
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return strings.TrimSpace(string(out)),
			fmt.Errorf("%s: %w %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
