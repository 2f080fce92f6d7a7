package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// maxProposed bounds the packages whose scripts are named.
const (
	maxProposed = 20
	maxScripts  = 200 // of one package: each is looked for in the manifest
)

// inspectRE finds the flag with which a script is run for a debugger: it checks nothing of its own.
var inspectRE = lazyregexp.New(`(^|\s)--inspect(-brk|-wait)?([=\s]|$)`)

// Propose names the scripts of the packages of a tree, as their own client is
// asked for them.
func (Ecosystem) Propose(t *ecosystem.Tree) []ecosystem.Proposal {
	var out []ecosystem.Proposal
	dirs := t.FoldersWith("package.json")
	for _, dir := range dirs[:min(len(dirs), maxProposed)] {
		text := t.ReadManifest(dir, "package.json")
		var p packageJSON
		if json.Unmarshal([]byte(text), &p) != nil {
			continue
		}
		client := proposedClient(t, dir, p.PackageManager)
		names := slices.Sorted(maps.Keys(p.Scripts))
		for _, name := range names[:min(len(names), maxScripts)] {
			script := p.Scripts[name]
			if script == "" || inspectRE.MatchString(script) || strings.Contains(script, "no test specified") || strings.ContainsAny(name, " \t\n'\"$`\\") {
				continue
			}
			command := client + " run " + name
			if name == "test" {
				command = client + " test"
			}
			out = append(out, ecosystem.Proposal{Command: command, Dir: dir, File: manifestIn(dir), Line: lineOfKey(text, name), Runs: []string{script}})
		}
	}
	return out
}

// proposedClient is the client that a package is for, by its manifest, else by the
// nearest lock file.
func proposedClient(t *ecosystem.Tree, dir, packageManager string) string {
	if name, _, _ := strings.Cut(packageManager, "@"); slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, name) {
		return name
	}
	best, depth := "npm", -1
	for _, c := range []struct{ lock, name string }{{"package-lock.json", "npm"}, {"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
		if at, ok := t.NearestWith(dir, c.lock); ok && ecosystem.Depth(at) > depth {
			best, depth = c.name, ecosystem.Depth(at)
		}
	}
	return best
}

// lineOfKey is the line of a script in its manifest: of its name as a key, behind the
// key of the scripts where there is one.
func lineOfKey(text, name string) int {
	from := max(0, strings.Index(text, `"scripts"`))
	at := strings.Index(text[from:], strconv.Quote(name)+":")
	if at < 0 {
		at = strings.Index(text[from:], fmt.Sprintf("%q", name))
	}
	if at < 0 {
		return 1
	}
	return 1 + strings.Count(text[:from+at], "\n")
}
