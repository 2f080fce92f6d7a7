package python

import (
	"regexp"
	"strings"

	"company/internal/ecosystem"
	"company/internal/shell"
)

// Propose names the environments of tox and the sessions of nox, with what they run.
func (Ecosystem) Propose(t *ecosystem.Tree) []ecosystem.Proposal {
	out := readTox(t.ReadManifest("", "tox.ini"))
	return append(out, readNox(t.ReadManifest("", "noxfile.py"))...)
}

var (
	toxSectionRE = regexp.MustCompile(`^\[testenv(?::([^\]{}]+))?\]`)
	toxKeyRE     = regexp.MustCompile(`^([A-Za-z_]+)\s*=\s*(.*)$`)
	toxDefaultRE = regexp.MustCompile(`\{posargs:?([^{}]*)\}`)
	toxFactorRE  = regexp.MustCompile(`^[A-Za-z0-9_,!.-]+:\s+`)
)

// readTox reads the commands of a tox.ini.
func readTox(text string) []ecosystem.Proposal {
	var out []ecosystem.Proposal
	inside, inCommands := false, false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if strings.HasPrefix(line, "[") {
			inCommands = false
			m := toxSectionRE.FindStringSubmatch(line)
			if inside = m != nil; inside {
				command := "tox"
				if m[1] != "" {
					command += " -e " + shell.QuoteArgument(m[1])
				}
				out = append(out, ecosystem.Proposal{Command: command, File: "tox.ini", Line: i + 1})
			}
			continue
		}
		trimmed := strings.TrimSpace(line)
		if !inside || trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';' {
			continue
		}
		if m := toxKeyRE.FindStringSubmatch(line); m != nil && line[0] != ' ' && line[0] != '\t' {
			inCommands, trimmed = m[1] == "commands", m[2]
		}
		if !inCommands || trimmed == "" {
			continue
		}
		trimmed = strings.TrimLeft(toxFactorRE.ReplaceAllString(trimmed, ""), "-! ")
		trimmed = toxDefaultRE.ReplaceAllString(trimmed, "$1")
		trimmed = strings.NewReplacer("{toxinidir}", ".", "{envpython}", "python", "{envbindir}/", "").Replace(trimmed)
		last := &out[len(out)-1]
		last.Runs = append(last.Runs, trimmed)
	}
	return dropEmpty(out)
}

// dropEmpty leaves out what runs nothing of its own.
func dropEmpty(all []ecosystem.Proposal) (out []ecosystem.Proposal) {
	for _, p := range all {
		if len(p.Runs) > 0 {
			out = append(out, p)
		}
	}
	return out
}

var (
	noxSessionRE = regexp.MustCompile(`(?m)^@(?:nox\.)?session\b`)
	noxNameRE    = regexp.MustCompile(`\bname\s*=\s*["']([A-Za-z0-9_.-]+)["']`)
	noxDefRE     = regexp.MustCompile(`(?m)^(?:async )?def ([A-Za-z0-9_]+)\(`)
	noxRunRE     = regexp.MustCompile(`session\.run\(([^)]*)`)
	noxTextRE    = regexp.MustCompile(`^\s*["']([^"'\n]*)["']\s*(?:,|$)`)
)

// readNox reads the sessions of a noxfile, as far as their commands are written out.
func readNox(text string) []ecosystem.Proposal {
	var out []ecosystem.Proposal
	starts := noxSessionRE.FindAllStringIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		part := text[at[0]:end]
		def := noxDefRE.FindStringSubmatchIndex(part)
		if def == nil {
			continue
		}
		name := part[def[2]:def[3]]
		if m := noxNameRE.FindStringSubmatch(part[:def[0]]); m != nil {
			name = m[1]
		}
		p := ecosystem.Proposal{Command: "nox -s " + name, File: "noxfile.py", Line: 1 + strings.Count(text[:at[0]+def[0]], "\n")}
		for _, run := range noxRunRE.FindAllStringSubmatch(part, -1) {
			rest, words := run[1], []string(nil)
			for m := noxTextRE.FindStringSubmatch(rest); m != nil; m = noxTextRE.FindStringSubmatch(rest) {
				words, rest = append(words, shell.QuoteArgument(m[1])), rest[len(m[0]):]
			}
			if len(words) > 0 {
				p.Runs = append(p.Runs, strings.Join(words, " "))
			}
		}
		out = append(out, p)
	}
	return dropEmpty(out)
}
