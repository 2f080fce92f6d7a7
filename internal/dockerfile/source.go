package dockerfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/safetext"
)

// maxText bounds one file that describes an image, in bytes.
const maxText = 256 << 10

// Text is one file of a repository that describes an image.
type Text struct {
	Path string
	Data []byte
}

// Source is how a repository describes its image.
type Source struct {
	Path  string // the file that the config names
	Texts []Text // that file, and the Dockerfile that it names

	file    Text              // the Dockerfile, or one that stands for a named image
	line    int               // of Path, where the image is named there; 0: file is of the repository
	context string            // the folder that COPY reads, "" for the whole repository
	args    map[string]string // values of ARG
	target  string            // the stage to end with; empty: the last
	env     []Variable        // set above all steps
	notes   []string
}

// Variable is one entry of an environment.
type Variable struct{ Name, Value string }

// ReadFunc gives the text of a file of the repository by its path; nil and no error:
// there is no such file.
type ReadFunc func(path string) ([]byte, error)

// ReadSource reads the file that a config names, and the Dockerfile that a
// devcontainer.json names. A file that is called *.json is a devcontainer.json.
func ReadSource(file string, read ReadFunc) (Source, error) {
	s := Source{Path: file}
	text, err := readText(file, read)
	if err != nil {
		return Source{}, err
	}
	s.Texts = []Text{text}
	if !strings.HasSuffix(file, ".json") {
		s.file = text
		return s, nil
	}
	d, err := parseDevcontainer(text)
	if err != nil {
		return Source{}, err
	}
	s.context, s.args, s.target, s.env, s.notes = d.context, d.args, d.target, d.env, d.notes
	if d.image != "" {
		s.file, s.line = Text{Path: file, Data: []byte("FROM " + d.image + "\n")}, d.imageLine
		return s, nil
	}
	if s.file, err = readText(d.dockerfile, read); err != nil {
		return Source{}, err
	}
	s.Texts = append(s.Texts, s.file)
	return s, nil
}

func readText(file string, read ReadFunc) (Text, error) {
	data, err := read(file)
	if err != nil {
		return Text{}, err
	}
	shown := safetext.EscapeLine(file, 200)
	switch {
	case data == nil:
		return Text{}, company.E(company.EImage, "the repository has no file "+shown).
			Because("container.dockerfile is a path in the repository, as the commit that a task starts from has it").
			Fix("commit the file, or set container.dockerfile to its path from the root of the repository").NeedsPerson()
	case len(data) > maxText:
		return Text{}, company.E(company.EImage, fmt.Sprintf("%s is over %d KiB", shown, maxText>>10)).Fix("name a smaller file with container.dockerfile").NeedsPerson()
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return Text{}, company.E(company.EImage, shown+" is not text").Fix("name a Dockerfile or a devcontainer.json with container.dockerfile").NeedsPerson()
	}
	return Text{Path: file, Data: data}, nil
}

// HashTexts is the hash of all that describes the image, with the paths of the files.
func (s Source) HashTexts() company.Hash {
	h := sha256.New()
	for _, t := range s.Texts {
		fmt.Fprintf(h, "%d:%s %d:%s\n", len(t.Path), t.Path, len(t.Data), t.Data)
	}
	return company.Hash(hex.EncodeToString(h.Sum(nil)))
}

// IgnoreFiles are the paths where a list of files may lie that COPY leaves out; the
// first that is there counts.
func (s Source) IgnoreFiles() []string {
	return []string{s.file.Path + ".dockerignore", path.Join(s.context, ".dockerignore")}
}

// refuse is an error about one line of the text.
func (s Source) refuse(line int, what string) *company.Error {
	if s.line > 0 {
		line = s.line
	}
	return refuseLine(s.file.Path, line, what)
}

func refuseLine(file string, line int, what string) *company.Error {
	return company.E(company.EImage, fmt.Sprintf("%s:%d: %s", safetext.EscapeLine(file, 200), line, safetext.EscapeLine(what, 300))).NeedsPerson()
}
