package strangers

import (
	"embed"
	"fmt"
	"strings"
)

// A Stratum is a kind of repository that a draw holds a fixed number of.
type Stratum string

// The strata. Each but the generators has a frozen list in lists/.
const (
	DebianNode Stratum = "debian-node"
	Npm        Stratum = "npm"
	Generator  Stratum = "generator"
	GoProxy    Stratum = "go"
	DebianGo   Stratum = "debian-go"
	Python     Stratum = "debian-python"
	Native     Stratum = "debian-c"
	Rust       Stratum = "debian-rust"
	PHP        Stratum = "debian-php"
)

// Listed is one repository of a frozen list.
type Listed struct {
	Stratum Stratum
	Name    string
	Version string
	Digest  string // of the upstream's archive or the module; empty where no list told it
	Path    string // of the upstream's archive below the archive of Debian
}

func (l Listed) String() string { return string(l.Stratum) + "/" + l.Name + "@" + l.Version }

//go:embed lists/*.txt
var listFiles embed.FS

// FrozenStrata are the strata whose lists are files.
var FrozenStrata = []Stratum{DebianNode, Npm, GoProxy, DebianGo, Python, Native, Rust, PHP}

// ReadList returns the frozen list of a stratum, in the order of the file.
func ReadList(stratum Stratum) ([]Listed, error) {
	if stratum == Generator {
		return listGenerators(), nil
	}
	text, err := listFiles.ReadFile("lists/" + string(stratum) + ".txt")
	if err != nil {
		return nil, err
	}
	return parseList(stratum, string(text))
}

// parseList reads one repository a line: name, version and, where known, digest.
func parseList(stratum Stratum, text string) (out []Listed, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 2 || len(fields) > 4 {
			return nil, fmt.Errorf("lists/%s.txt:%d: %d fields, want a name, a version and perhaps a digest and a path", stratum,
				n, len(fields))
		}
		one := Listed{Stratum: stratum, Name: fields[0], Version: fields[1]}
		if len(fields) > 2 {
			one.Digest = fields[2]
		}
		if len(fields) > 3 {
			one.Path = fields[3]
		}
		out = append(out, one)
	}
	return out, nil
}

// formatList is the text that parseList reads.
func formatList(about string, list []Listed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n# Made by make strangers/lists; draws depend on the order.\n", about)
	for _, l := range list {
		b.WriteString(strings.TrimSpace(l.Name+" "+l.Version+" "+l.Digest+" "+l.Path) + "\n")
	}
	return b.String()
}
