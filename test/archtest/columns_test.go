package archtest

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is how long a line of Go may be, in characters. A tab is one.
const mostColumns = 120

// A longer line is read twice. Only a text that cannot be divided may go on behind the limit: a
// raw string, a struct's tag, an address.
func TestLinesAreShort(t *testing.T) {
	looked := 0
	for _, top := range []string{"cmd", "internal", "test", "tools"} {
		err := filepath.WalkDir(filepath.Join(root(t), top), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "fixtures"):
				return fs.SkipDir
			case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			looked++
			for _, line := range listLongLines(text) {
				t.Errorf("%s:%d: longer than %d columns", path, line, mostColumns)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 1000 {
		t.Errorf("only %d files were looked at", looked)
	}
}

// listLongLines lists the numbers of the lines in which something that is not text begins or goes
// on behind the limit.
func listLongLines(text []byte) (long []int) {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var tokens scanner.Scanner
	tokens.Init(file, text, nil, scanner.ScanComments)
	open := false // a text goes on behind the limit of the line
	for last := 0; ; {
		pos, kind, literal := tokens.Scan()
		if kind == token.EOF {
			return long
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue
		}
		begin := file.Offset(pos)
		line := file.Line(pos)
		start := file.Offset(file.LineStart(line))
		end := begin + max(len(literal), len(kind.String()))
		if literal != "" {
			end = begin + len(literal)
		}
		isText := kind == token.STRING || kind == token.CHAR
		if line != last {
			last, open = line, false
		}
		column := utf8.RuneCount(text[start:min(end, len(text))])
		switch {
		case column <= mostColumns || open:
		case isText:
			open = true
		case len(long) == 0 || long[len(long)-1] != line:
			long = append(long, line)
		}
		last = file.Line(file.Pos(min(end, len(text)) - 1))
	}
}
