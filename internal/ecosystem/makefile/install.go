package makefile

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/cc"
	"company/internal/ecosystem/compilecache"
)

// buildJobs is how many compilers run at a time: as many as a container has
// processors by default (workers.cpus).
const buildJobs = "2"

// otherGoals are targets by which no one compiles: a Makefile that begins with one of
// them has no goal of its own for that.
var otherGoals = []string{"test", "check", "lint", "help", "usage", "clean", "distclean", "install", "uninstall",
	"dist", "doc", "docs", "format", "fmt", "bench", "benchmark", "run", "deploy", "release",
	// some of them never end
	"tests", "coverage", "valgrind", "serve", "start", "watch", "dev", "menuconfig", "docker", "publish"}

// Installs is a layer of the compiled objects of the base, where make alone compiles C.
func (e Ecosystem) Installs(sources ecosystem.Sources) ([]ecosystem.Install, error) {
	if !sources.HasToolchain(cacheToolchain) {
		return nil, nil
	}
	tree := ecosystem.TreeOf(sources.Base())
	goals := e.compileGoals(tree)
	if tree.Err() != nil || len(goals) == 0 {
		return nil, tree.Err()
	}
	// make's own name for the compiler is cc, before which Debian puts no ccache.
	names := sources.Places().Build + "/names"
	command := "mkdir -p " + names + " && ln -sf " + ccache + " " + names + "/cc && PATH=" + names + ":$PATH make -k -j " +
		buildJobs + " " + strings.Join(goals, " ")
	layers := compilecache.CompileBase(sources, e.Name(), []compilecache.Folder{{Command: command}}, e.IsGateFile)
	for i := range layers {
		objects := layers[i].Collector
		layers[i].Collector = func() ecosystem.Collector { return cacheCollector{objects()} }
		layers[i].Env = ecosystem.Env{Path: "/" + nameFolder}
	}
	return layers, nil
}

const (
	ccache     = "/usr/bin/ccache"
	nameFolder = "opt/ccache-names" // of compilers, in the image
)

// cacheCollector adds the name cc to the objects.
type cacheCollector struct{ ecosystem.Collector }

// Files are those of the store, and the name.
func (c cacheCollector) Files() []ecosystem.ImageFile {
	return append(c.Collector.Files(), ecosystem.ImageFile{Path: nameFolder + "/cc", Link: ccache})
}

// Packages are those of the libraries that the Makefiles link, where make alone compiles C.
func (e Ecosystem) Packages(sources ecosystem.Sources) ([]string, error) {
	if !sources.HasToolchain(cacheToolchain) {
		return nil, nil
	}
	tree := ecosystem.TreeOf(sources)
	var own []ecosystem.File
	for _, f := range tree.Makefiles() {
		if dir, _ := ecosystem.SplitPath(f.Path); !ecosystem.IsForeignDir(dir) {
			own = append(own, f)
		}
	}
	slices.SortFunc(own, func(a, b ecosystem.File) int { return strings.Compare(a.Path, b.Path) })
	var texts []string
	tree.ReadTexts(own[:min(len(own), maxMakefiles)], func(_ ecosystem.File, text []byte) {
		if len(text) <= ecosystem.MaxManifest {
			texts = append(texts, strings.ToValidUTF8(string(text), "\uFFFD"))
		}
	})
	isOwn := func(library string) bool {
		file := "lib" + library + "."
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, file) })
	}
	return cc.LinkedPackages(texts, isOwn, sources.AddNote), tree.Err()
}

// maxMakefiles bounds the Makefiles that are read for libraries.
const maxMakefiles = 50

// compileGoals are the targets by which the base is compiled and not tested: all, or the
// first of the Makefile, and what the tests need, where the recipe of it compiles.
func (e Ecosystem) compileGoals(tree *ecosystem.Tree) (goals []string) {
	rules := ruleSet{}
	first := ""
	for _, proposal := range e.Propose(tree) {
		target := strings.TrimPrefix(proposal.Command, "make ")
		if first == "" {
			first = target
		}
		rules[target] = append(rules[target], proposal.Runs...)
	}
	if _, ok := rules["all"]; ok {
		first = "all"
	}
	goals = rules.compileOnly(first)
	seen := map[string]bool{}
	for _, check := range []string{"test", "check"} {
		for _, target := range rules.listNeeded(check) {
			if seen[target] {
				continue
			}
			seen[target] = true
			if !slices.Contains(goals, target) && slices.ContainsFunc(rules[target], compilerRE.MatchString) {
				goals = append(goals, target)
			}
		}
	}
	return goals
}

// ruleSet is the rules of a Makefile: of each target its recipe, and "make x" for each x
// that it needs.
type ruleSet map[string][]string

// listNeeded lists the targets that a target needs or makes.
func (r ruleSet) listNeeded(target string) (needed []string) {
	for _, run := range r[target] {
		if n, ok := strings.CutPrefix(run, "make "); ok {
			needed = append(needed, n)
		}
	}
	return needed
}

// compileOnly are the targets that a goal stands for, without those that test, install or
// never end: the goal itself, or what it needs where one of these is behind it.
func (r ruleSet) compileOnly(goal string) (goals []string) {
	seen := map[string]bool{}
	var add func(target string)
	add = func(target string) {
		if _, named := r[target]; !named || seen[target] || slices.Contains(otherGoals, target) {
			return
		}
		seen[target] = true
		if !r.leadsToOther(target, map[string]bool{}) {
			goals = append(goals, target)
			return
		}
		for _, n := range r.listNeeded(target) {
			add(n)
		}
	}
	add(goal)
	return goals
}

// leadsToOther tells whether a target needs one of otherGoals, at once or by others.
func (r ruleSet) leadsToOther(target string, seen map[string]bool) bool {
	if seen[target] {
		return false
	}
	seen[target] = true
	return slices.ContainsFunc(r.listNeeded(target), func(n string) bool {
		return slices.Contains(otherGoals, n) || r.leadsToOther(n, seen)
	})
}
