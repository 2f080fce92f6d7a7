package strangers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// GoModule is a module of the module proxy, held against the checksum database and
// against the sum of the list.
type GoModule struct {
	Path string
	Sum  string
	Dir  string     // below the root of the repository; only for Inner
	More []GoModule // modules of the same repository, which the root's archive does not have
	At   string     // the version of one of More
}

// Fetch copies the module out of the module cache.
func (m GoModule) Fetch(ctx context.Context, s Stranger) (Checkout, error) {
	parent, err := cacheDir("go")
	if err != nil {
		return Checkout{}, err
	}
	dir := filepath.Join(parent, strings.ReplaceAll(m.Path, "/", "-")+"@"+s.Version)
	m.At = s.Version
	return Checkout{Dir: dir}, keepIn(dir, func(temp string) error {
		for _, part := range append([]GoModule{m}, m.More...) {
			from, err := part.downloadModule(ctx)
			if err != nil {
				return err
			}
			if err := copyTree(filepath.Join(temp, filepath.FromSlash(part.Dir)), from); err != nil {
				return err
			}
		}
		return nil
	})
}

// downloadModule asks the module proxy, and names the folder in the module cache.
func (m GoModule) downloadModule(ctx context.Context) (dir string, err error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.Path+"@"+m.At)
	cmd.Dir, cmd.Env = os.TempDir(), append(os.Environ(), "GOFLAGS=-mod=mod", "GO111MODULE=on", "GOWORK=off")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s%s", m.Path, err, out, errs.String())
	}
	var got struct{ Version, Dir, Sum string }
	if err := json.Unmarshal(out, &got); err != nil {
		return "", err
	}
	if m.Sum != "" && got.Sum != m.Sum { // without one the checksum database alone has looked at it
		return "", fmt.Errorf("%s@%s has the sum %s, not that of the list, %s", m.Path, m.At, got.Sum, m.Sum)
	}
	return got.Dir, nil
}

// copyTree copies a folder: files as they are, and writable.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.MkdirAll(at, 0o755)
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			return os.Symlink(target, at)
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is no file", p)
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if err := os.WriteFile(at, text, 0o644|info.Mode().Perm()&0o111); err != nil {
			return err
		}
		return os.Chtimes(at, info.ModTime(), info.ModTime()) // make looks at them
	})
}

// addGoChange makes up the change of a module: a function and its test, in files
// that it does not have.
func (s Stranger) addGoChange(from Checkout) (Stranger, error) {
	dir, name, err := findGoPackage(from.Dir)
	if err != nil {
		return s, fmt.Errorf("%s: %w", s.Name, err)
	}
	s.Change = []File{
		{path.Join(dir, "company_clamp.go"), "package " + name + `

// companyClamp is n, or the nearest of low and high when it is beyond them.
func companyClamp(n, low, high int) int {
	if n < low {
		return low
	}
	if n > high {
		return high
	}
	return n
}
`},
		{path.Join(dir, "company_clamp_test.go"), "package " + name + `

import "testing"

func TestCompanyClamp(t *testing.T) {
	for _, c := range [][4]int{{5, 1, 9, 5}, {0, 1, 9, 1}, {10, 1, 9, 9}} {
		if got := companyClamp(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("companyClamp(%d, %d, %d) = %d, want %d", c[0], c[1], c[2], got, c[3])
		}
	}
}
`},
	}
	s.Check = "go test -run '^TestCompanyClamp$' ./" + dir
	if _, err := os.Stat(filepath.Join(from.Dir, "go.mod")); errors.Is(err, fs.ErrNotExist) {
		s.Check = "GO111MODULE=off " + s.Check
	}
	return s, nil
}

// findGoPackage finds the first folder with a package that tests can be added to,
// the root before all others.
func findGoPackage(root string) (dir, name string, err error) {
	var paths []string
	err = filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		rel = filepath.ToSlash(rel)
		d := path.Dir(rel)
		if strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go") && !strings.Contains(d, "testdata") &&
			!strings.Contains(d, "internal") {
			paths = append(paths, rel)
		}
		return err
	})
	if err != nil {
		return "", "", err
	}
	slices.SortFunc(paths, func(a, b string) int {
		if c := strings.Count(a, "/") - strings.Count(b, "/"); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	for _, p := range paths {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return "", "", err
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, text, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil || f.Name.Name == "main" || strings.Contains("\n"+string(text), "\n//go:build ignore") {
			continue
		}
		return path.Dir(p), f.Name.Name, nil
	}
	return "", "", errors.New("it has no package")
}
