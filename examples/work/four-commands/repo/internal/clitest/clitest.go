// Package clitest runs commands in tests.
package clitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/hours/internal/cli"
)

// Dir makes a folder with these files: names and texts in turn.
func Dir(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i+1 < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Run runs a command on the data in a folder, and gives what it prints.
func Run(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	var b strings.Builder
	err := cli.Run(&cli.Env{Dir: dir, Out: &b}, args)
	return b.String(), err
}

// Read reads a file of a folder.
func Read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
