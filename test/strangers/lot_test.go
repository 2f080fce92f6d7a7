package strangers

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

var (
	draw       = flag.Int("draw", 0, "make this draw of the commit that is measured, from 1; 0: none")
	cases      = flag.Int("cases", wholeDraw, "the first so many cases of the draw")
	drawCommit = flag.String("draw-commit", "", "the commit of a draw that is gone on with; empty: HEAD")
	drawTable  = flag.String("draw-table", "", "write the table of all draws to this file")
	again      = flag.Bool("again", false, "walk the draw a second time; its rows are kept beside the first walk's")
	prepare    = flag.Bool("prepare", false,
		"find the cases of the draw and keep them for a later run; the company is not run")
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

// Repositories that nobody chose, drawn by the commit that is measured.
func TestDraw(t *testing.T) {
	if *draw == 0 && *drawTable == "" {
		hosttest.Long(t, "two cases of a draw")
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
	if *prepare {
		return
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
	if *drawTable == "" {
		root = t.TempDir() // nothing is kept
	}
	file, kept := drawFile(root, commit, *draw, *again), preparedFile(root, commit, *draw)
	if *prepare {
		prepareDraw(t, kept, places)
		return
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
			row := CaseRow{Commit: commit, Draw: *draw, Again: *again, Number: place.Number, Stratum: place.Stratum,
				Measured: time.Now().UTC()}
			runCase(t, kept, place, &row, countAway(done) < mostAway)
			if err := appendLine(file, row); err != nil {
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
		t.Fatalf("the sources of the program differ from those of %s: commit them, or check that commit out (%v)",
			commit, err)
	}
}

// prepareDraw finds the cases of a draw and keeps them. The company has no part in that, so
// that a machine which is not quiet spoils no measurement by it.
func prepareDraw(t *testing.T, kept string, places []drawnPlace) {
	for _, place := range places {
		t.Run(fmt.Sprintf("%02d-%s", place.Number, place.Stratum), func(t *testing.T) {
			_, err := readPrepared(t.Context(), kept, place.Number)
			if !errors.Is(err, errNotPrepared) {
				if err != nil {
					t.Error(err)
				}
				return
			}
			found, err := findCase(t.Context(), place, true)
			if err == nil {
				err = appendLine(kept, found)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// runCase walks the case of a place: the one that was prepared, or one that is found now.
func runCase(t *testing.T, kept string, place drawnPlace, row *CaseRow, away bool) {
	found, err := readPrepared(t.Context(), kept, place.Number)
	if errors.Is(err, errNotPrepared) || found.Case != nil && found.Case.Away != "" && !away {
		found, err = findCase(t.Context(), place, away)
	}
	if err != nil {
		t.Fatal(err)
	}
	row.PassedOver = found.PassedOver
	if found.Case == nil {
		row.Verdict, row.Why = NotDrawn, fmt.Sprintf("none of %d candidates can be a case", len(row.PassedOver))
		return
	}
	c := *found.Case
	row.describe(c)
	t.Logf("%s: %s is seen by %s: %q, counts %v", c.Listed, row.Mutation, row.Red, c.Names, c.Counts)
	walkCase(t, c, row)
}
