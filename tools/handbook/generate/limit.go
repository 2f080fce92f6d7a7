package generate

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// unit is how a limit's number is shown.
type unit int

const (
	count unit = iota
	bytesUnit
	duration
)

// limit is a fixed limit that users can meet. Its value is a constant of a package.
type limit struct {
	area   string
	room   string // package below internal/
	name   string // its constant
	unit   unit
	what   string
	beyond string // effect when it is exceeded
}

// renderLimits renders a table for each area, with the values of the constants.
func renderLimits(root string) (string, error) {
	v := newConstants(root)
	var b strings.Builder
	area := ""
	for _, l := range limits {
		value, err := v.valueOf(l.room, l.name)
		if err != nil {
			return "", err
		}
		text, err := l.unit.render(value)
		if err != nil {
			return "", fmt.Errorf("%s.%s: %w", l.room, l.name, err)
		}
		if l.area != area {
			if area != "" {
				b.WriteByte('\n')
			}
			area = l.area
			b.WriteString("## " + area + "\n\n")
			writeHead(&b, "limit", "value", "if exceeded")
		}
		writeRow(&b, l.what, text, l.beyond)
	}
	return b.String(), nil
}

func (u unit) render(v constant.Value) (string, error) {
	n, exact := constant.Int64Val(constant.ToInt(v))
	if !exact {
		return "", fmt.Errorf("%s is not a whole number", v)
	}
	switch u {
	case bytesUnit:
		for i, name := range []string{"GiB", "MiB", "KiB"} {
			if size := int64(1) << (30 - 10*i); n >= size && n%size == 0 {
				return fmt.Sprintf("%d %s", n/size, name), nil
			}
		}
		return groupDigits(n) + " bytes", nil
	case duration:
		text := time.Duration(n).String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return text, nil
	}
	return groupDigits(n), nil
}

// groupDigits writes a number with a comma at each thousand.
func groupDigits(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// constants are the constants of the packages of a tree, read from their source.
type constants struct {
	root  string
	files *token.FileSet
	std   types.Importer
	known map[string]*types.Package
}

func newConstants(root string) *constants {
	files := token.NewFileSet()
	return &constants{root: root, files: files, std: importer.ForCompiler(files, "source", nil),
		known: map[string]*types.Package{}}
}

// Import gives a package of the tree by its declarations, time of the standard
// library, and an empty package for every other path: constants need no more.
func (c *constants) Import(path string) (*types.Package, error) {
	if p := c.known[path]; p != nil {
		return p, nil
	}
	room, ours := strings.CutPrefix(path, "company/internal/")
	switch {
	case path == "time" || path == "math":
		return c.std.Import(path)
	case !ours:
		p := types.NewPackage(path, filepath.Base(path))
		p.MarkComplete()
		c.known[path] = p
		return p, nil
	}
	files, err := c.parseRoom(filepath.Join(c.root, "internal", filepath.FromSlash(room)))
	if err != nil {
		return nil, err
	}
	// what other packages declare is missing on purpose
	conf := types.Config{Importer: c, IgnoreFuncBodies: true, Error: func(error) {}}
	p, _ := conf.Check(path, c.files, files, nil)
	c.known[path] = p
	return p, nil
}

// parseRoom reads the files of a folder, tests apart.
func (c *constants) parseRoom(dir string) (files []*ast.File, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(c.files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, tree)
	}
	return files, nil
}

func (c *constants) valueOf(room, name string) (constant.Value, error) {
	p, err := c.Import("company/internal/" + room)
	if err != nil {
		return nil, err
	}
	found, ok := p.Scope().Lookup(name).(*types.Const)
	if !ok || found.Val().Kind() == constant.Unknown {
		return nil, fmt.Errorf("package %s has no constant %s", room, name)
	}
	return found.Val(), nil
}
