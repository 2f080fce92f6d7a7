package generate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// WriteManual writes a man page for each command below root, in section 1. The date
// is that of the release, so that the pages of a commit are always the same.
func WriteManual(root *cobra.Command, dir string, date time.Time) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	return doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{
		Header: &doc.GenManHeader{Section: "1", Date: &date, Source: "company", Manual: "company"}, Path: dir,
		CommandSeparator: "-",
	})
}

// WriteCompletions writes what makes shells complete, under the names by which they
// look for it.
func WriteCompletions(root *cobra.Command, dir string) error {
	for file, shell := range map[string]string{"bash/company": "bash", "zsh/_company": "zsh",
		"fish/company.fish": "fish"} {
		var text bytes.Buffer
		root.SetOut(&text)
		root.SetArgs(strings.Fields("completion " + shell))
		if err := root.Execute(); err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
