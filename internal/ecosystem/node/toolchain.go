package node

import (
	_ "embed"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"company/internal/ecosystem"
)

const (
	debianVersion = "18.20" // Node in Debian bookworm, the base of images
	minVersion    = 18      // oldest major version that current test runners support
	modulesPath   = "/usr/local/lib/node_modules"
)

// linkModules links prepared packages into the tree's node_modules. It uses the lists that the collectors
// of npm, pnpm and yarn write.
//
//go:embed linkmodules.sh
var linkModules string

// Toolchains returns Node with npm, the tools for building its native modules, and a browser.
func (e Ecosystem) Toolchains() []ecosystem.Toolchain {
	ask := [][]string{{"node", "-p", "process.execPath + '\\n' + process.versions.node + '\\n' + process.platform"}}
	return []ecosystem.Toolchain{{
		Name: e.Name(), Title: "Node", Contents: "node and npm", Fallback: []string{"nodejs", "npm"}, Version: debianVersion,
		FreshTree: ecosystem.FreshTree{Links: linkModules},
		Tree: &ecosystem.HostTree{
			Ask: ask, Env: []string{"NODE_OPTIONS="},
			Read: readHost,
			Copies: []ecosystem.Copy{
				{From: "bin/node", To: "/usr/local/bin/node"},
				{From: "lib/node_modules/npm", To: modulesPath + "/npm",
					Leave: func(rel string) bool { return rel == "docs" || rel == "man" }},
			},
			Files: []ecosystem.ImageFile{
				{Path: "usr/local/bin/npm", Link: modulesPath + "/npm/bin/npm-cli.js"},
				{Path: "usr/local/bin/npx", Link: modulesPath + "/npm/bin/npx-cli.js"},
			},
		},
		WishFiles: []string{".nvmrc", ".node-version", ".tool-versions", "package.json"}, WishAction: "actions/setup-node",
		Wish: readWish, Versions: otherVersions,
	}, {
		Name: "gyp", Title: "the compiler for Node's native modules",
		Contents: "a C++ compiler, make, python3 and Node's headers", ScriptsOf: e.Name(),
		Packages: []string{"g++", "make", "python3"}, Fallback: []string{"libnode-dev"},
		Tree: &ecosystem.HostTree{
			Ask: ask, Env: []string{"NODE_OPTIONS="}, Read: readHostHeaders,
			Copies: []ecosystem.Copy{{From: "include/node", To: "/usr/local/include/node"}},
		},
	}, browserTools()}
}

// readHost finds Node with the npm of Node's own packages. It does not use Debian's npm, which is split
// into hundreds of packages.
func readHost(answers []string, realPath func(string) (string, error)) (ecosystem.FoundTree, error) {
	f := strings.Split(answers[0], "\n")
	if len(f) != 3 || f[2] != "linux" {
		return ecosystem.FoundTree{}, errors.New("cannot parse the output of this host's node")
	}
	major, _, _ := strings.Cut(f[1], ".")
	if n, err := strconv.Atoi(major); err != nil || n < minVersion {
		return ecosystem.FoundTree{}, fmt.Errorf("the node of this host is %s, older than %d", f[1], minVersion)
	}
	exe, err := realPath(f[0])
	if err != nil {
		return ecosystem.FoundTree{}, err
	}
	if path.Base(path.Dir(exe)) != "bin" {
		return ecosystem.FoundTree{}, fmt.Errorf("%s is not in a bin directory", exe)
	}
	return ecosystem.FoundTree{
		Dir: path.Dir(path.Dir(exe)), Version: f[1],
		OwnFiles: []string{"lib/node_modules/npm/package.json", "lib/node_modules/npm/bin/npm-cli.js"},
		Program:  "bin/" + path.Base(exe), Identity: []string{"bin/node", "lib/node_modules/npm/package.json"},
	}, nil
}

// readHostHeaders finds the headers of the host's Node.
func readHostHeaders(answers []string, realPath func(string) (string, error)) (ecosystem.FoundTree, error) {
	found, err := readHost(answers, realPath)
	const version = "include/node/node_version.h"
	found.Program = ""
	found.OwnFiles = []string{version, "include/node/common.gypi"}
	found.Identity = []string{version}
	return found, err
}
