package image

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Program is a program of others that works as an agent (docs/agents.md). It comes from a package of npm's registry,
// of which only the listed files are taken. Nothing of it is run while the image is made.
type Program struct {
	Name, Version string
	Package       string            // name in the registry
	Platform      string            // behind the version there, for packages that have one version for each
	Integrity     string            // sha512-BASE64 of the package's file
	Files         map[string]string // path below the program's folder, by path in the package
}

// programsRoot is the folder of all programs.
const programsRoot = "/opt/agents"

// Path returns the absolute path of the program in the image.
func (p Program) Path() string { return path.Join(programsRoot, p.Name, p.Name) }

// addPrograms adds a layer for each program.
func (p *layerPlan) addPrograms(req Request) error {
	for _, program := range req.Programs {
		label := program.Name + " " + program.Version
		if p.b.registries == nil || req.Offline {
			return company.E(company.EImage, label+" cannot be fetched").Because("container.deps is off").
				Fix("put it into the image, and name its path in bin of its model profile")
		}
		inputs := []string{program.Name, program.Version + program.Platform, program.Package, program.Integrity}
		for _, from := range slices.Sorted(maps.Keys(program.Files)) {
			inputs = append(inputs, from, program.Files[from])
		}
		p.appendTarStep("agents", "the program "+label, p.b.fillProgram(program), inputs...)
	}
	return nil
}

// fillProgram returns a function that writes the layer of a program.
func (b *Builder) fillProgram(program Program) writeLayerFunc {
	return func(ctx context.Context, _ *existingImage, _ string, l *layer) error {
		encoded, isSHA512 := strings.CutPrefix(program.Integrity, "sha512-")
		sum, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || !isSHA512 {
			return company.E(company.EInternal, "the digest of "+program.Package+" is malformed")
		}
		file := path.Base(program.Package) + "-" + program.Version + program.Platform + ".tgz"
		b.reportProgress("fetching %s %s", program.Name, program.Version)
		got, err := b.registries.FetchExact(ctx, "npm", program.Package+"/-/"+file,
			ecosystem.Digest{Algorithm: "sha512", Sum: sum})
		if err != nil {
			return company.E(company.EImage, fmt.Sprintf("cannot fetch %s %s", program.Name,
				program.Version)).Wrap(err).
				Fix("check that npm's registry can be reached, or put the program into the image and name its " +
					"path in bin")
		}
		return got.ReadAt(func(content io.ReaderAt, size int64) error {
			return program.copyFiles(l, io.NewSectionReader(content, 0, size))
		})
	}
}

// copyFiles copies the listed files of a package.
func (p Program) copyFiles(l *layer, packed io.Reader) error {
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	missing := maps.Clone(p.Files)
	for entries := tar.NewReader(unzipped); len(missing) > 0; {
		head, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return company.E(company.EImage, fmt.Sprintf("%s %s lacks %s", p.Package, p.Version,
				strings.Join(slices.Sorted(maps.Keys(missing)), ", ")))
		}
		if err != nil {
			return fmt.Errorf("read the package of %s: %w", p.Name, err)
		}
		_, name, _ := strings.Cut(path.Clean(head.Name), "/")
		to, listed := missing[name]
		if !listed || head.Typeflag != tar.TypeReg {
			continue
		}
		delete(missing, name)
		at := strings.TrimPrefix(path.Join(programsRoot, p.Name, to), "/")
		if err := l.addStream(at, 0o755, head.Size, entries); err != nil {
			return err
		}
	}
	return nil
}
