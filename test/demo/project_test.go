package demo

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

func itoa(n int) string { return strconv.Itoa(n) }

func example(t *testing.T) string {
	t.Helper()
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "examples", "stockroom")
}

func goTool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-trimpath", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestExampleIsSound(t *testing.T) {
	goTool(t, example(t), "vet", "./...")
	goTool(t, example(t), "test", "./...")
}

// TestEverySeedMakesASoundProject looks at names that are as far from the
// committed ones as there are, and at some drawn ones.
func TestEverySeedMakesASoundProject(t *testing.T) {
	far := Names{Store: stores[1], Thing: things[3], Ledger: ledgers[3], Samples: samples[3], Tax: taxes[2],
		Opening: openings[4]}
	for name, n := range map[string]Names{"far": far, "seed 5": NamesOf(5)} {
		t.Run(name, func(t *testing.T) {
			if name != "far" {
				hosttest.Long(t, "one more project of Go is compiled")
			}
			dir := filepath.Join(t.TempDir(), "repo")
			if err := CopyProject(example(t), dir, n); err != nil {
				t.Fatal(err)
			}
			goTool(t, dir, "vet", "./...")
			goTool(t, dir, "test", "./...")
			if err := CopyProject(example(t), dir, n); err == nil {
				t.Error("a second copy wrote over the first")
			}
		})
	}
	t.Run("nothing keeps its name", func(t *testing.T) {
		dir := t.TempDir()
		if err := CopyProject(example(t), dir, far); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			for _, word := range []string{"stockroom", "Stockroom", "ledger", "Ledger", "Item", " item", "bolt-", "nut-"} {
				if strings.Contains(string(text)+path[len(dir):], word) {
					t.Errorf("%s still says %q", path, word)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestNamesAreTheSeeds(t *testing.T) {
	differs := false
	for seed := range uint64(200) {
		n := NamesOf(seed)
		if n != NamesOf(seed) {
			t.Fatalf("seed %d gives different names", seed)
		}
		if n.From[0] < 2 || n.From[1] <= n.From[0]+1 || n.Percent[1] <= n.Percent[0] {
			t.Errorf("seed %d: tiers %v %v", seed, n.Percent, n.From)
		}
		differs = differs || n != NamesOf(0)
	}
	if !differs {
		t.Error("every seed gives the same names")
	}
}

func TestOnlyDemosAreReplaced(t *testing.T) {
	temp := t.TempDir()
	foreign := filepath.Join(temp, "company-demo-9")
	if err := os.MkdirAll(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "thesis.txt"), []byte("years"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := replace(foreign); err == nil {
		t.Error("a folder that is not a demo's was cleared")
	}
	next := filepath.Join(temp, "company-demo-1")
	for i := range 6 {
		dir := filepath.Join(temp, "company-demo-"+itoa(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, marker), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := KeepFew(temp, next); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(temp, "company-demo-*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != keep+2 { // the newest, the next one, and the foreign one
		t.Errorf("left: %v", left)
	}
	if err := replace(next); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(next, marker)); err == nil {
		t.Error("a demo's folder was not emptied")
	}
	if _, err := os.Stat(filepath.Join(foreign, "thesis.txt")); err != nil {
		t.Error(err)
	}
}
