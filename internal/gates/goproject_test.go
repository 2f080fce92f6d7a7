package gates_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container/docker"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/lib/hosttest"
)

// detectedJob judges the head of main by the gates that are found there, in the image
// that they need.
func (b *bundle) detectedJob() gates.Job {
	b.t.Helper()
	base := b.commit("main")
	p, err := gates.Detect(b.ctx, b.mirror, base, gates.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	rt, err := docker.Open(b.ctx, docker.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	defer rt.Close()
	images, err := image.New(image.Config{Runtime: rt})
	if err != nil {
		b.t.Fatal(err)
	}
	defer images.Close()
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Minute)
	defer cancel()
	img, err := images.Ensure(ctx, image.Request{Toolchains: p.Toolchains})
	if err != nil {
		b.t.Fatal(err)
	}
	tree, err := b.mirror.Tree(b.ctx, base)
	if err != nil {
		b.t.Fatal(err)
	}
	return gates.Job{Mirror: b.mirror, Tree: tree, Gates: p.Gates, Hash: gates.HashGates(p.Gates),
		Image: gates.ImageByID(img.ID), Label: "t1-01", Epoch: 1}
}

// generator writes the names of a list into a Go file.
const generator = "package main\n\nimport (\n\t\"os\"\n\t\"strings\"\n)\n\nfunc main() {\n\tall, _ := " +
	"os.ReadFile(\"names.txt\")\n" +
	"\t_ = os.WriteFile(\"names.go\", []byte(\"package x\\n\\nconst Names = " +
	"\\\"\"+strings.TrimSpace(string(all))+\"\\\"\\n\"), 0o644)\n\t_ = os.WriteFile(\"log\", nil, 0o644)\n}\n"

// A branch that changes what code is generated from, and not the code, is red with the
// name of the file. A base that is not what its generators make has no such check.
func TestGeneratedCode(t *testing.T) {
	hosttest.Long(t, "Go runs in containers")
	b := setup(t, nil).withDocker()
	b.writeFiles(map[string]string{
		"go.mod": "module example.org/x\n\ngo 1.24\n", "x.go": "package x\n\n//go:generate go run ./gen\n",
		"gen/main.go": generator, "names.txt": "a b\n",
		"names.go": "package x\n\nconst Names = \"a b\"\n", ".gitignore": "log\n",
	})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "generated")
	base := b.detectedJob()
	base.Baseline = true
	res := b.mustRun(base)
	if len(res.Checks) != 4 || res.Checks[1].Name != "lint (generated)" || !res.Passed {
		t.Fatalf("on the base: %+v", res)
	}

	b.writeFiles(map[string]string{"names.txt": "a b c\n"})
	b.git("commit", "-q", "-am", "the list alone")
	j := b.detectedJob()
	j.BaselineResult = &res
	red := b.mustRun(j)
	if c := red.Checks[1]; red.Passed || c.ExitCode != 1 || len(c.Tests) != 1 ||
		c.Tests[0].Name != "names.go: is not what go generate makes" {
		t.Errorf("a stale file: %+v", c)
	}
	b.writeFiles(map[string]string{"names.go": "package x\n\nconst Names = \"a b c\"\n"})
	b.git("commit", "-q", "-am", "and the code")
	j = b.detectedJob()
	j.BaselineResult = &res
	if green := b.mustRun(j); !green.Passed {
		t.Errorf("%+v", green)
	}

	b.writeFiles(map[string]string{"names.go": "package x\n\nconst Names = \"by hand\"\n"})
	b.git("commit", "-q", "-am", "a base that is not what is made")
	stale := b.detectedJob()
	stale.Baseline = true
	res, err := b.runner.Run(b.ctx, stale)
	if err != nil || !res.Checks[1].Absent || !res.Checks[0].Passed ||
		!strings.Contains(res.Checks[1].Output, "go generate ./...: names.go:1: is not what go generate makes") {
		t.Errorf("%v: %+v", err, res.Checks)
	}
}

// Go files without a module are vetted and tested as they lie there.
func TestLooseGoFiles(t *testing.T) {
	hosttest.Long(t, "Go runs in containers")
	b := setup(t, nil).withDocker()
	b.writeFiles(map[string]string{
		"a.go":   "package a\n\nimport \"./b\"\n\nfunc A() int { return b.B() }\n",
		"b/b.go": "package b\n\nfunc B() int { return 1 }\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif A() != 1 " +
			"{\n\t\tt.Fatal(A())\n\t}\n}\n",
	})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "loose")
	j := b.detectedJob()
	j.Baseline = true
	res := b.mustRun(j)
	if !res.Passed || len(res.Checks) != 2 || res.Checks[1].Counts == nil || res.Checks[1].Counts.Passed != 1 {
		t.Errorf("%+v", res)
	}
	b.writeFiles(map[string]string{"b/b.go": "package b\n\nimport \"fmt\"\n\nfunc B() int { fmt.Printf(\"%d\", \"x\"); " +
		"return 2 }\n"})
	b.git("commit", "-q", "-am", "broken")
	j = b.detectedJob()
	j.BaselineResult = &res
	red := b.mustRun(j)
	if red.Passed || red.Checks[0].Passed || red.Checks[0].Against(&res.Checks[0]) != company.ComparedFailed ||
		len(red.Checks[0].Tests) != 1 {
		t.Errorf("%+v", red.Checks)
	}
}
