package checkfinder

import (
	"path"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
	"company/internal/lib/shellquote"
)

// buildTargets lists targets of make, and names of scripts and tasks, that build. The empty string stands for make
// without a target.
var buildTargets = []string{"", "all", "build", "compile", "generate", "gen", "bundle", "dist", "lib", "prepare",
	"transpile", "codegen", "build-all", "build_all"}

// choosesRE matches shell branches and loops, which may skip commands of a script.
var choosesRE = lazyregexp.New(`(?m)(^|[;&|]|\bdo|\bthen)\s*(if|case|for|while|until|select|function)\b|\|\|`)

// isKnown reports whether the text of a call contains everything that the call depends on.
func (c call) isKnown() bool {
	return !c.open && !c.lost && len(c.params) == 0 && !strings.Contains(strings.Join(c.words, " "), unknown)
}

// isBuild reports whether a call builds files that later checks of its job may use.
func (c call) isBuild() bool {
	words := c.unwrapCommand()
	if len(words) == 0 || c.soft || c.checkKind() != "" {
		return false
	}
	rest := skipFlags(words[1:], flagsWithValue)
	rest = slices.DeleteFunc(slices.Clone(rest), func(w string) bool {
		return strings.HasPrefix(w, "-") || strings.Contains(w, "=") || numberRE.MatchString(w)
	})
	first, last := "", ""
	if len(rest) > 0 {
		first, last = rest[0], rest[len(rest)-1]
	}
	switch path.Base(words[0]) {
	case "make", "gmake", "ninja", "just", "task":
		return !slices.ContainsFunc(rest, func(w string) bool { return !slices.Contains(buildTargets, w) })
	case "npm", "yarn", "pnpm", "bun":
		name, _, _ := strings.Cut(last, ":")
		return (first == "run" || len(rest) == 1) && name != "" && slices.Contains(buildTargets, name)
	case "cmake", "configure", "autoreconf", "autogen.sh", "bootstrap", "bootstrap.sh", "buildconf":
		return true
	case "cargo", "go", "dune", "zig", "stack", "cabal", "mix", "sbt", "dotnet", "composer":
		return slices.Contains(buildTargets[1:], first)
	case "meson":
		return first == "setup" || first == "compile"
	case "python", "python3":
		return first == "setup.py" && strings.HasPrefix(last, "build")
	case "tsc":
		return true
	}
	return false
}

// joinBuilds joins the builds of a job before a check to one command that runs in the check's folder. If one of them
// is not fully known, it returns "", because the others alone produce a different tree than in the CI.
func (c *collector) joinBuilds(dir string) string {
	var parts []string
	for _, wrote := range c.built {
		if !wrote.call.isKnown() || strings.HasPrefix(wrote.dir, "..") {
			return ""
		}
		parts = append(parts, textFrom(dir, wrote, wrote.dir != "" && len(c.tree.FilesBelow(wrote.dir)) == 0))
	}
	return strings.Join(parts, " && ")
}

// textFrom returns the text of a job's call for running it from dir. The command first changes to the call's own
// folder. create makes that folder if the job made it and it is not in the tree.
func textFrom(dir string, w wrote, create bool) string {
	part := flattenLines(w.call.text)
	if w.dir == dir {
		return part
	}
	back := strings.Repeat("../", len(strings.FieldsFunc(dir, func(r rune) bool { return r == '/' })))
	at := shellquote.QuoteArgument("./" + path.Join(back, w.dir))
	part = "cd " + at + " && " + part
	if create {
		part = "mkdir -p " + at + " && " + part
	}
	return "(" + part + ")"
}
