package image

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/container/dockerapi"
	"company/internal/container/dockerfile"
	"company/internal/lib/safetext"

	cerrdefs "github.com/containerd/errdefs"
)

// ReadDockerfile reads the description of the image in a commit of a mirror. file is the path in the
// config.
func ReadDockerfile(ctx context.Context, mirrorDir string, commit company.OID, file string) (dockerfile.Source, error) {
	tree, err := listTree(ctx, Repo{MirrorDir: mirrorDir, Commit: commit}, commit)
	if err != nil {
		return dockerfile.Source{}, err
	}
	return dockerfile.ReadSource(file, func(name string) ([]byte, error) {
		if !tree.hasFile(name) {
			return nil, nil
		}
		return tree.readText(ctx, name)
	})
}

// describedBase is a base that a Dockerfile of the repository describes.
type describedBase struct {
	source dockerfile.Source
	files  []dockerfile.File
	ignore []byte
	plan   dockerfile.Recipe // recipe for a base without an environment
	id     string            // id of the base image if it is named by a tag; empty before resolveFrom
}

// describeBase translates the Dockerfile of a request and lists the files that it may copy.
func (b *Builder) describeBase(ctx context.Context, req Request) (baseSource, error) {
	base := &describedBase{source: *req.Dockerfile}
	tree, err := listTree(ctx, *req.Repo, req.Repo.Commit)
	if err != nil {
		return baseSource{}, err
	}
	for _, name := range base.source.IgnoreFiles() {
		if tree.hasFile(name) {
			if base.ignore, err = tree.readText(ctx, name); err != nil {
				return baseSource{}, err
			}
			break
		}
	}
	if base.files, err = listContext(ctx, *req.Repo); err != nil {
		return baseSource{}, err
	}
	if base.plan, err = base.source.Translate(
		dockerfile.Base{Env: []string{"PATH=" + defaultPath}}, base.files, base.ignore); err != nil {
		return baseSource{}, err
	}
	return baseSource{pulled: true, ref: "of " + safetext.EscapeLine(base.source.Path, 100), described: base}, nil
}

// listContext lists the files of a commit that a Dockerfile may copy, including links.
func listContext(ctx context.Context, repo Repo) ([]dockerfile.File, error) {
	out, err := runGit(ctx, repo.MirrorDir, "", "ls-tree", "-r", "-z", "--full-tree", string(repo.Commit))
	if err != nil {
		return nil, err
	}
	var files []dockerfile.File
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		meta, name, ok := strings.Cut(string(entry), "\t")
		if part := strings.Fields(meta); ok && len(part) == 3 && part[1] == "blob" {
			files = append(files, dockerfile.File{Path: name, Mode: part[0], ID: part[2]})
		}
	}
	return files, nil
}

// fromKey returns the reference of the base image: its digest, or the local id of its tag.
func (d *describedBase) fromKey() string {
	if d.id != "" {
		return d.id
	}
	return d.plan.From
}

func (d *describedBase) describeFrom() string {
	return fmt.Sprintf("%s, which %s:%d starts from", d.plan.From, safetext.EscapeLine(d.source.Path, 100), d.plan.Line)
}

// resolveFrom resolves the tag of the base image to a local image. It never pulls a tag, because each
// pull could return a different image.
func (b *Builder) resolveFrom(ctx context.Context, base *baseSource) error {
	if base.described == nil {
		return nil
	}
	d := *base.described
	info, err := b.docker.ImageInspect(ctx, d.plan.From)
	where := fmt.Sprintf("%s:%d", safetext.EscapeLine(d.source.Path, 100), d.plan.Line)
	switch {
	case cerrdefs.IsNotFound(err) && dockerfile.IsPinned(d.plan.From):
		return nil // it is pulled
	case cerrdefs.IsNotFound(err):
		return company.E(company.EImage, fmt.Sprintf("%s: the image %s is not on this machine", where, d.plan.From)).
			Because("a tag can move to another image, so only digests are pulled").
			Fix("docker pull " + d.plan.From + ", or write " + d.plan.From + "@sha256:<its digest>").NeedsPerson()
	case err != nil:
		return dockerapi.WrapError("look at the image "+d.plan.From, err)
	case info.Config != nil && info.Config.Labels[labelKind] != "":
		return company.E(company.EImage, where+": "+d.plan.From+" is an image of the company").
			Because("it holds the history of a repository").Fix("start from another image").NeedsPerson()
	case !dockerfile.IsPinned(d.plan.From):
		d.id = info.ID
	}
	base.described = &d
	return nil
}

// makeFrom builds the lowest layer of a described image: the flattened base image. The base may lack
// git, because a step may install it.
func (b *Builder) makeFrom(ctx context.Context, s layerStep, base describedBase, work string) (*existingImage, error) {
	tarball := filepath.Join(work, "rootfs.tar")
	from, err := b.pullBase(ctx, s, base.fromKey(), tarball, "sh")
	if isUnreachable(err) {
		_ = os.Remove(b.unreachableMark(s)) // nothing stands for this image, so each attempt asks for it
		return nil, company.E(company.EImage, fmt.Sprintf("cannot pull the image %s", base.describeFrom())).Wrap(err).
			Fix("pull it yourself: docker pull " + base.plan.From)
	}
	if err != nil {
		return nil, err
	}
	label, err := json.Marshal(dockerfile.Base{User: from.user, Dir: from.dir, Shell: from.shell})
	if err != nil {
		return nil, err
	}
	return b.importBase(ctx, s, from.env, tarball, labelFrom+"="+base64.StdEncoding.EncodeToString(label))
}

// baseSettings returns the settings of the base image of a Dockerfile. It omits HOME, which depends on
// the user of a step.
func (f *existingImage) baseSettings() (base dockerfile.Base, err error) {
	if f.from != "" {
		label, err := base64.StdEncoding.DecodeString(f.from)
		if err == nil {
			err = json.Unmarshal(label, &base)
		}
		if err != nil {
			return base, fmt.Errorf("read the settings of a base: %w", err)
		}
	}
	for _, e := range f.env {
		if !strings.HasPrefix(e, "HOME=") {
			base.Env = append(base.Env, e)
		}
	}
	return base, nil
}

// addRecipe adds the layer with the steps of a Dockerfile.
func (p *layerPlan) addRecipe(req Request, base baseSource) error {
	d := base.described
	p.notes = append(p.notes, d.plan.Notes...)
	var link aptLink
	inputs := []string{"1", string(d.source.HashTexts())}
	for _, step := range d.plan.Steps {
		if step.Copy == nil {
			continue
		}
		for _, f := range step.Copy.Files {
			inputs = append(inputs, f.Mode, f.Place, f.ID)
		}
		inputs = append(inputs, "\x00")
	}
	if d.hasCommands() {
		var err error
		if link, err = p.linkApt(req, base, "the steps of "+safetext.EscapeLine(d.source.Path, 100)+" reach"); err != nil {
			return err
		}
	}
	if link.access != nil {
		inputs = append(append(inputs, "\x00apt"), p.b.projectKey(req)...)
	}
	reason := fmt.Sprintf("%s of %s", company.Count(len(d.plan.Steps), "step"), safetext.EscapeLine(d.source.Path, 100))
	p.appendStep("dockerfile", reason, p.b.runRecipe(*d, *req.Repo, link, req.project()), inputs...)
	return nil
}

func (d *describedBase) hasCommands() bool {
	for _, s := range d.plan.Steps {
		if s.Run != nil {
			return true
		}
	}
	return false
}
