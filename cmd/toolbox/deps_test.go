//go:build linux

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The toolbox stays small: the standard library, x/sys/unix for waitid, x/text for the encodings of files and names,
// yamux, mvdan/sh and the few packages of ours that it is made of.
func TestToolboxDependsOnLittle(t *testing.T) {
	out, err := exec.CommandContext(
		t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{
		"company/cmd/toolbox", "company/internal/toolbox/toolproto", "company/internal/toolbox/toolserver",
		"company/internal/toolbox/mux", "company/internal/company", "company/internal/lib/safetext",
		"company/internal/lib/shellquote", "company/internal/lib/blocklist",
		"company/internal/toolbox/serverprogram", "company/internal/lib/lazyregexp", "company/internal/lib/boundedparse/bash",
		"company/internal/company/glob",
		"company/internal/lib/charset", "golang.org/x/text/encoding", "golang.org/x/text/runes",
		"golang.org/x/text/transform", "golang.org/x/text/unicode/norm", "golang.org/x/text/internal/utf8internal",
		"github.com/hashicorp/yamux", "golang.org/x/sys/unix", "mvdan.cc/sh/v3",
	}
	for dep := range strings.FieldsSeq(string(out)) {
		ok := false
		for _, a := range allowed {
			ok = ok || dep == a || strings.HasPrefix(dep, a+"/")
		}
		if !ok {
			t.Errorf("the toolbox must not depend on %s", dep)
		}
	}
}
