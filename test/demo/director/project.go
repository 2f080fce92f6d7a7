package director

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"company/internal/adapters/scripted"
)

// project is what a part has found out about the project by looking: names and
// numbers differ from run to run.
type project struct {
	Module     string
	Item       string // the catalogue's type
	Ledger     string // the stock's type
	LedgerFile string
	Tiers      []tier // the largest quantity first
	SKU        string // of a sample in the tests of the commands
}

type tier struct{ From, Percent string }

// look are the calls that find it out.
func look() []scripted.Call {
	return []scripted.Call{
		call("read_file", Args{"path": "go.mod"}),
		call("search", Args{"pattern": `^func .*(Find\(sku|record\(m) `, "glob": "internal/**/*.go"}),
		call("search", Args{"pattern": `"ship [a-z]+-`, "glob": "internal/app/commands_test.go"}),
	}
}

var (
	moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)
	findFunc   = regexp.MustCompile(`Find\(sku string\) \((\w+), error\)`)
	recordFunc = regexp.MustCompile(`(?m)^(\S+?):\d+: func \(\w+ \*(\w+)\) record\(`)
	sampleSKU  = regexp.MustCompile(`"ship ([a-z]+-[0-9]+) `)
	tierText   = regexp.MustCompile(`(\d+) % from (\d+)`)
)

// found reads the answers of look, and the tiers from the brief.
func found(x scripted.Exchange) (project, error) {
	var p project
	lines, _ := file(x, "go.mod")
	searched := strings.Join(x.Results("search"), "\n")
	for _, f := range []struct {
		re   *regexp.Regexp
		in   string
		into []*string
	}{
		{moduleLine, strings.Join(lines, "\n"), []*string{&p.Module}},
		{recordFunc, searched, []*string{&p.LedgerFile, &p.Ledger}},
		{findFunc, searched, []*string{&p.Item}},
		{sampleSKU, searched, []*string{&p.SKU}},
	} {
		m := f.re.FindStringSubmatch(f.in)
		if m == nil {
			return p, fmt.Errorf("nothing in the project matches %s", f.re)
		}
		for i, dest := range f.into {
			*dest = m[i+1]
		}
	}
	for _, m := range tierText.FindAllStringSubmatch(x.Brief(), 2) {
		p.Tiers = append(p.Tiers, tier{From: m[2], Percent: m[1]})
	}
	slices.Reverse(p.Tiers)
	return p, nil
}

//go:embed code
var code embed.FS

var templates = template.Must(template.New("").ParseFS(code, "code/*.tmpl"))

// write is a call that writes a file of the director's, in the project's names.
func (p project) write(path, name string) scripted.Call {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name+".tmpl", p); err != nil {
		panic(err) // a template of this package
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		panic(fmt.Errorf("%s: %w", name, err))
	}
	return call("write_file", Args{"path": path, "content": string(text)})
}

// after is a call that puts a line behind the last one of a file that has been
// read and matches.
func after(x scripted.Exchange, path string, re *regexp.Regexp, line string) (scripted.Call, error) {
	lines, _ := file(x, path)
	last := ""
	for _, l := range lines {
		if re.MatchString(l) {
			last = l
		}
	}
	if last == "" {
		return scripted.Call{}, fmt.Errorf("no line of %s matches %s", path, re)
	}
	return call("edit_file", Args{"path": path, "old": last + "\n", "new": last + "\n" + line + "\n"}), nil
}
