package strangers

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/hosttest"
	"company/test/testenv"
)

var (
	draw       = flag.Int("draw", 0, "make this draw of the commit that is measured, from 1; 0: none")
	cases      = flag.Int("cases", wholeDraw, "the first so many cases of the draw")
	drawCommit = flag.String("draw-commit", "", "the commit of a draw that is gone on with; empty: HEAD")
	drawTable  = flag.String("draw-table", "", "write the table of all draws to this file")
)

// mostAway is how many cases of a draw may have a registry that cannot be reached.
const mostAway = 5

func countAway(rows []CaseRow) (n int) {
	for _, r := range rows {
		if r.isAway() {
			n++
		}
	}
	return n
}

// mostCandidates bounds how many repositories are tried for one case.
const mostCandidates = 12

// mostMissing bounds those of them that the archive does not give: some archives have
// only a part of Debian's sources.
const mostMissing = 25

// Repositories that nobody chose, drawn by the commit that is measured.
func TestDraw(t *testing.T) {
	if *draw == 0 && *drawTable == "" {
		hosttest.LongVariant(t, "two cases of a draw")
		*draw, *cases = 1, 2
	}
	hosttest.NeedsDocker(t)
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	if *draw > 0 {
		runDraw(t, root)
	}
	if *drawTable != "" {
		draws, err := readDraws(root)
		if err == nil {
			err = os.WriteFile(filepath.Join(root, *drawTable), []byte(writeDraws(draws)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// runDraw makes the cases of the draw that have no row yet, and writes each as it comes.
func runDraw(t *testing.T, root string) {
	commit := *drawCommit
	if commit == "" {
		house := &testenv.House{T: t, Env: os.Environ()}
		commit = house.Git(root, "rev-parse", "HEAD")
	}
	if *drawTable != "" {
		checkMeasured(t, root, commit)
	}
	places, err := drawPlaces(seedText(commit, *draw), *cases, ReadList)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rows.jsonl")
	if *drawTable != "" {
		file = drawFile(root, commit, *draw)
	}
	var done []CaseRow
	if *resume {
		if done, err = readRows(file); err != nil {
			t.Fatal(err)
		}
	}
	for _, place := range places {
		if slices.ContainsFunc(done, func(r CaseRow) bool { return r.Number == place.Number }) {
			continue
		}
		t.Run(fmt.Sprintf("%02d-%s", place.Number, place.Stratum), func(t *testing.T) {
			row := CaseRow{Commit: commit, Draw: *draw, Number: place.Number, Stratum: place.Stratum, Measured: time.Now().UTC()}
			runCase(t, place, &row, countAway(done) < mostAway)
			if err := appendRow(file, row); err != nil {
				t.Error(err)
			}
			done = append(done, row)
			t.Logf("%+v", row)
		})
	}
}

// checkMeasured fails where the program that is built here is not that of the commit
// whose draw this is: rows say which commit was measured.
func checkMeasured(t *testing.T, root, commit string) {
	t.Helper()
	cmd := exec.Command("git", "diff", "--quiet", commit, "--", "cmd", "internal", "runtime", "go.mod", "go.sum")
	cmd.Dir = root
	if err := cmd.Run(); err != nil {
		t.Fatalf("the sources of the program differ from those of %s: commit them, or check that commit out (%v)", commit, err)
	}
}

// runCase takes the first candidate that can be a case, and walks it.
func runCase(t *testing.T, place drawnPlace, row *CaseRow, away bool) {
	tried, missing := 0, 0
	for _, l := range place.Candidates {
		if tried == mostCandidates || missing == mostMissing {
			break
		}
		c, err := prepareCase(t.Context(), place, l)
		if errors.Is(err, errNotHad) {
			missing++
		} else {
			tried++
		}
		if errors.Is(err, errPassedOver) {
			t.Logf("%s: %v", l, err)
			row.PassedOver = append(row.PassedOver, l.String()+": "+strings.TrimPrefix(err.Error(), errPassedOver.Error()+": "))
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		if c.Away != "" && !away {
			row.PassedOver = append(row.PassedOver, l.String()+": its packages cannot be had here, and the draw has enough of these")
			continue
		}
		row.Name, row.Version, row.Red, row.Prepared = l.Name, l.Version, c.Red.Text, c.Prepared
		if c.Away == "" {
			row.Mutation = c.Mutation.describe()
		}
		for _, g := range c.Green {
			row.Theirs = append(row.Theirs, g.Text+" ["+g.File+"]")
		}
		for _, n := range c.NotRun {
			row.NotRun = append(row.NotRun, "`"+n.Text+"`: "+n.Why)
		}
		t.Logf("%s: %s is seen by %s: %q, counts %v", l, row.Mutation, row.Red, c.Names, c.Counts)
		walkCase(t, c, row)
		return
	}
	row.Verdict, row.Why = NotDrawn, fmt.Sprintf("none of %d candidates can be a case", len(row.PassedOver))
}
