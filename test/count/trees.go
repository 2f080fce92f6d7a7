package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing/fstest"
)

// openTree returns the files of a folder, of a commit of this repository (@COMMIT), or of a Go
// module (PATH@VERSION), which is downloaded.
func openTree(name string) (fs.FS, error) {
	commit, isCommit := strings.CutPrefix(name, "@")
	switch {
	case isCommit:
		return openCommit(commit)
	case strings.Contains(name, "@"):
		return openModule(name)
	}
	return os.DirFS(name), nil
}

func openCommit(commit string) (fs.FS, error) {
	archive, err := exec.Command("git", "archive", "--format=tar", commit).Output()
	if err != nil {
		return nil, fmt.Errorf("git archive: %w", err)
	}
	files := fstest.MapFS{}
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(reader)
		if err != nil {
			return nil, err
		}
		files[header.Name] = &fstest.MapFile{Data: text}
	}
}

func openModule(name string) (fs.FS, error) {
	cmd := exec.Command("go", "mod", "download", "-json", name)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	printed, err := cmd.Output()
	var module struct{ Dir, Error string }
	if readErr := json.Unmarshal(printed, &module); readErr != nil || module.Error != "" || err != nil {
		return nil, fmt.Errorf("go mod download: %s: %w", module.Error, errors.Join(err, readErr))
	}
	return os.DirFS(module.Dir), nil
}
