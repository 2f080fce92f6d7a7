package python

import (
	"maps"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/toml"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/shellquote"
)

// Propose lists the environments of tox and the sessions of nox, with their commands.
func (Ecosystem) Propose(tree *ecosystem.Tree) []ecosystem.Proposal {
	out := proposeTox(tree.ReadManifest("", "tox.ini"), "tox.ini")
	var own map[string]any
	if text := tree.ReadManifest("", "tox.toml"); toml.Decode([]byte(text), &own) == nil {
		out = append(out, proposeToxTable(own, "tox.toml", text)...)
	}
	text := tree.ReadManifest("", "pyproject.toml")
	if m, err := readPyproject([]byte(text)); err == nil {
		out = append(out, proposeToxTable(m.Tool.Tox, "pyproject.toml", text)...)
	}
	return append(out, proposeNox(tree.ReadManifest("", "noxfile.py"))...)
}

// toxSectionRE matches the head of testenv or of a named environment.
var toxSectionRE = lazyregexp.New(`^\[(testenv(?::([^\]{}]+))?)\]$`)

// proposeTox proposes the environments of a tox.ini that have their own commands. It includes commands for
// all factors.
func proposeTox(text, file string) []ecosystem.Proposal {
	var out []ecosystem.Proposal
	toxFile := newToxFile(text)
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		m := toxSectionRE.FindStringSubmatch(strings.TrimRight(line, " \t\r"))
		if m == nil || seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		proposal := ecosystem.Proposal{Command: "tox", File: file, Line: i + 1}
		if m[2] != "" {
			proposal.Command += " -e " + shellquote.QuoteArgument(m[2])
		}
		for _, run := range toxFile.expandValue(toxFile.sections[m[1]]["commands"], keepForAll) {
			proposal.Runs = append(proposal.Runs, strings.TrimLeft(run, "-!@ "))
		}
		out = append(out, proposal)
	}
	return dropEmpty(out)
}

// maxToxEnvironments limits the environments of a file that are proposed, because each is searched in its
// text.
const maxToxEnvironments = 200

// proposeToxTable proposes the tox environments in a TOML file.
func proposeToxTable(table map[string]any, file, text string) (out []ecosystem.Proposal) {
	if legacy, ok := table["legacy_tox_ini"].(string); ok {
		return proposeTox(legacy, file)
	}
	add := func(command, section string, env any) {
		one, _ := env.(map[string]any)
		before, _, _ := strings.Cut(text, section+"]")
		out = append(
			out, ecosystem.Proposal{Command: command, File: file, Line: 1 + strings.Count(before, "\n"),
				Runs: toxTableCommands(one)})
	}
	add("tox", "env_run_base", table["env_run_base"])
	envs, _ := table["env"].(map[string]any)
	names := slices.Sorted(maps.Keys(envs))
	for _, name := range names[:min(len(names), maxToxEnvironments)] {
		add("tox -e "+shellquote.QuoteArgument(name), "env."+name, envs[name])
	}
	return dropEmpty(out)
}

// dropEmpty removes proposals without commands.
func dropEmpty(all []ecosystem.Proposal) (out []ecosystem.Proposal) {
	for _, proposal := range all {
		if len(proposal.Runs) > 0 {
			out = append(out, proposal)
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

// proposeNox proposes the sessions of a noxfile whose commands begin with string literals.
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
		proposal := ecosystem.Proposal{Command: "nox -s " + name, File: "noxfile.py",
			Line: 1 + strings.Count(text[:at[0]+def[0]], "\n")}
		for _, run := range noxRunRE.FindAllStringSubmatch(part, -1) {
			rest, words := run[1], []string(nil)
			for m := noxTextRE.FindStringSubmatch(rest); m != nil; m = noxTextRE.FindStringSubmatch(rest) {
				words, rest = append(words, shellquote.QuoteArgument(m[1])), rest[len(m[0]):]
			}
			if len(words) > 0 {
				proposal.Runs = append(proposal.Runs, strings.Join(words, " "))
			}
		}
		out = append(out, proposal)
	}
	return dropEmpty(out)
}
