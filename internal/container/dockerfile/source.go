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
	"company/internal/lib/safetext"
)

// maxText limits the size of one file that describes an image, in bytes.
const maxText = 256 << 10

// Text is a file of a repository that describes an image.
type Text struct {
	Path string
	Data []byte
}

// Source is a repository's description of its image.
type Source struct {
	Path  string // the file in the config
	Texts []Text // that file, and the Dockerfile to which it refers

	file    Text              // the Dockerfile, or a generated one for a named image
	line    int               // line of the image's name in Path; 0 if file is in the repository
	context string            // the folder that COPY reads; "" means the whole repository
	args    map[string]string // values of ARG
	target  string            // the stage to build; empty means the last
	env     []Variable        // set before all steps
	notes   []string
}

// Variable is one entry of an environment.
type Variable struct{ Name, Value string }

// ReadFunc returns the content of a repository's file by its path. If there is no such file, it
// returns nil without an error.
type ReadFunc func(path string) ([]byte, error)

// ReadSource reads the file in the config, and the Dockerfile to which a devcontainer.json refers. A
// file named *.json is parsed as a devcontainer.json.
func ReadSource(file string, read ReadFunc) (Source, error) {
	source := Source{Path: file}
	text, err := readText(file, read)
	if err != nil {
		return Source{}, err
	}
	source.Texts = []Text{text}
	if !strings.HasSuffix(file, ".json") {
		source.file = text
		return source, nil
	}
	devcontainer, err := parseDevcontainer(text)
	if err != nil {
		return Source{}, err
	}
	source.context = devcontainer.context
	source.args = devcontainer.args
	source.target = devcontainer.target
	source.env = devcontainer.env
	source.notes = devcontainer.notes
	if devcontainer.image != "" {
		source.file, source.line = Text{Path: file, Data: []byte("FROM " + devcontainer.image + "\n")}, devcontainer.imageLine
		return source, nil
	}
	if source.file, err = readText(devcontainer.dockerfile, read); err != nil {
		return Source{}, err
	}
	source.Texts = append(source.Texts, source.file)
	return source, nil
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
			Because("container.dockerfile is a path in a task's base commit").
			Fix("commit the file, or set container.dockerfile to its path from the root of the repository").NeedsPerson()
	case len(data) > maxText:
		return Text{}, company.E(company.EImage, fmt.Sprintf("%s is over %d KiB", shown, maxText>>10)).
			Fix("set container.dockerfile to a smaller file").NeedsPerson()
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return Text{}, company.E(company.EImage, shown+" is not text").
			Fix("set container.dockerfile to a Dockerfile or a devcontainer.json").NeedsPerson()
	}
	return Text{Path: file, Data: data}, nil
}

// HashTexts returns a hash of the paths and contents of all files that describe the image.
func (s Source) HashTexts() company.Hash {
	h := sha256.New()
	for _, t := range s.Texts {
		fmt.Fprintf(h, "%d:%s %d:%s\n", len(t.Path), t.Path, len(t.Data), t.Data)
	}
	return company.Hash(hex.EncodeToString(h.Sum(nil)))
}

// IgnoreFiles returns the possible paths of the list of files that COPY omits. The first existing one
// applies.
func (s Source) IgnoreFiles() []string {
	return []string{s.file.Path + ".dockerignore", path.Join(s.context, ".dockerignore")}
}

// refuse returns an error about one line of the text.
func (s Source) refuse(line int, what string) *company.Error {
	if s.line > 0 {
		line = s.line
	}
	return refuseLine(s.file.Path, line, what)
}

func refuseLine(file string, line int, what string) *company.Error {
	return company.E(company.EImage,
		fmt.Sprintf("%s:%d: %s", safetext.EscapeLine(file, 200), line, safetext.EscapeLine(what, 300))).NeedsPerson()
}
