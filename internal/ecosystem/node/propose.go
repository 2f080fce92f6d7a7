package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// Limits of the proposals.
const (
	maxProposed = 20
	maxScripts  = 200 // per package, since each script is searched in the manifest
)

// inspectRE matches the flag that starts a script for a debugger. Such a script is not a check of its own.
var inspectRE = lazyregexp.New(`(^|\s)--inspect(-brk|-wait)?([=\s]|$)`)

// Propose lists the scripts of the packages in a tree, with the command of the package's own client.
func (Ecosystem) Propose(tree *ecosystem.Tree) []ecosystem.Proposal {
	var out []ecosystem.Proposal
	dirs := tree.FoldersWith("package.json")
	for _, dir := range dirs[:min(len(dirs), maxProposed)] {
		text := tree.ReadManifest(dir, "package.json")
		var p packageJSON
		if json.Unmarshal([]byte(text), &p) != nil {
			continue
		}
		client := proposedClient(tree, dir, p.PackageManager)
		names := slices.Sorted(maps.Keys(p.Scripts))
		for _, name := range names[:min(len(names), maxScripts)] {
			script := p.Scripts[name]
			if script == "" || inspectRE.MatchString(script) || strings.Contains(script, "no test specified") ||
				strings.ContainsAny(name, " \t\n'\"$`\\") {
				continue
			}
			command := client + " run " + name
			if name == "test" {
				command = client + " test"
			}
			out = append(
				out, ecosystem.Proposal{Command: command, Dir: dir, File: manifestIn(dir), Line: lineOfKey(text, name),
					Runs: []string{script}})
		}
	}
	return out
}

// proposedClient returns the client that the manifest of a package names. Otherwise it returns the client
// of the nearest lock file, or npm.
func proposedClient(tree *ecosystem.Tree, dir, packageManager string) string {
	if name, _, _ := strings.Cut(packageManager, "@"); slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, name) {
		return name
	}
	best, depth := "npm", -1
	for _, c := range []struct{ lock, name string }{{"package-lock.json", "npm"}, {"pnpm-lock.yaml", "pnpm"},
		{"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
		if at, ok := tree.NearestWith(dir, c.lock); ok && ecosystem.Depth(at) > depth {
			best, depth = c.name, ecosystem.Depth(at)
		}
	}
	return best
}

// lineOfKey returns the line of a script in its manifest. It looks for the name as a key after the key
// "scripts".
func lineOfKey(text, name string) int {
	from := max(0, strings.Index(text, `"scripts"`))
	index := strings.Index(text[from:], strconv.Quote(name)+":")
	if index < 0 {
		index = strings.Index(text[from:], fmt.Sprintf("%q", name))
	}
	if index < 0 {
		return 1
	}
	return 1 + strings.Count(text[:from+index], "\n")
}
