package python

import (
	"maps"
	"slices"
	"strings"

	"company/internal/boundedparse/toml"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/shell"
)

// Propose names the environments of tox and the sessions of nox, with what they run.
func (Ecosystem) Propose(t *ecosystem.Tree) []ecosystem.Proposal {
	out := proposeTox(t.ReadManifest("", "tox.ini"), "tox.ini")
	var own map[string]any
	if text := t.ReadManifest("", "tox.toml"); toml.Decode([]byte(text), &own) == nil {
		out = append(out, proposeToxTable(own, "tox.toml", text)...)
	}
	text := t.ReadManifest("", "pyproject.toml")
	if m, err := readPyproject([]byte(text)); err == nil {
		out = append(out, proposeToxTable(m.Tool.Tox, "pyproject.toml", text)...)
	}
	return append(out, proposeNox(t.ReadManifest("", "noxfile.py"))...)
}

// toxSectionRE is the head of an environment that has a name.
var toxSectionRE = lazyregexp.New(`^\[(testenv(?::([^\]{}]+))?)\]$`)

// proposeTox names the environments of a tox.ini that have commands of their own, with
// those of all their factors.
func proposeTox(text, file string) []ecosystem.Proposal {
	var out []ecosystem.Proposal
	f := newToxFile(text)
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		m := toxSectionRE.FindStringSubmatch(strings.TrimRight(line, " \t\r"))
		if m == nil || seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		p := ecosystem.Proposal{Command: "tox", File: file, Line: i + 1}
		if m[2] != "" {
			p.Command += " -e " + shell.QuoteArgument(m[2])
		}
		for _, run := range f.expandValue(f.sections[m[1]]["commands"], keepForAll) {
			p.Runs = append(p.Runs, strings.TrimLeft(run, "-!@ "))
		}
		out = append(out, p)
	}
	return dropEmpty(out)
}

// maxToxEnvironments bounds the environments of a file that are named: each is looked for in its text.
const maxToxEnvironments = 200

// proposeToxTable names the environments of tox in a file of TOML.
func proposeToxTable(table map[string]any, file, text string) (out []ecosystem.Proposal) {
	if legacy, ok := table["legacy_tox_ini"].(string); ok {
		return proposeTox(legacy, file)
	}
	add := func(command, section string, env any) {
		one, _ := env.(map[string]any)
		before, _, _ := strings.Cut(text, section+"]")
		out = append(out, ecosystem.Proposal{Command: command, File: file, Line: 1 + strings.Count(before, "\n"), Runs: toxTableCommands(one)})
	}
	add("tox", "env_run_base", table["env_run_base"])
	envs, _ := table["env"].(map[string]any)
	names := slices.Sorted(maps.Keys(envs))
	for _, name := range names[:min(len(names), maxToxEnvironments)] {
		add("tox -e "+shell.QuoteArgument(name), "env."+name, envs[name])
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
	noxSessionRE = lazyregexp.New(`(?m)^@(?:nox\.)?session\b`)
	noxNameRE    = lazyregexp.New(`\bname\s*=\s*["']([A-Za-z0-9_.-]+)["']`)
	noxDefRE     = lazyregexp.New(`(?m)^(?:async )?def ([A-Za-z0-9_]+)\(`)
	noxRunRE     = lazyregexp.New(`session\.run\(([^)]*)`)
	noxTextRE    = lazyregexp.New(`^\s*["']([^"'\n]*)["']\s*(?:,|$)`)
)

// proposeNox reads the sessions of a noxfile, as far as their commands are written out.
func proposeNox(text string) []ecosystem.Proposal {
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
