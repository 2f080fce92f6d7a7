package image

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/container/dockerapi"

	dockercontainer "github.com/docker/docker/api/types/container"
)

// imageConfig returns the configuration that containers of all our images inherit.
func imageConfig(s layerStep, under *existingImage) dockercontainer.Config {
	layers := s.kind + "=" + string(s.key)
	if under != nil && under.layers != "" {
		layers = under.layers + "," + layers
	}
	var env []string
	if under != nil {
		env = under.env
	}
	if s.env != nil {
		env = s.env(env)
	}
	labels := map[string]string{labelKind: s.kind, labelKey: string(s.key), labelLayers: layers}
	if notes := formatNotes(s, under); notes != "" {
		labels[labelNotes] = notes
	}
	hosts := strings.Join(s.hosts, " ")
	if hosts == "" && under != nil {
		hosts = under.hosts
	}
	if hosts != "" {
		labels[labelHosts] = hosts
	}
	toolbox := string(s.toolbox)
	if toolbox == "" && under != nil {
		toolbox = under.toolbox
	}
	if toolbox != "" {
		labels[labelToolbox] = toolbox
	}
	return dockercontainer.Config{
		User:       fmt.Sprintf("%d:%d", agentID, agentID),
		Env:        env,
		Cmd:        []string{"/bin/sh"},
		WorkingDir: "/work",
		Labels:     labels,
	}
}

// applyLayer adds a layer to an image. The daemon gets an archive with only the new layer, because it
// knows the others by their hashes. The image's id is then the hash of its config, which is the same
// for the same layers. Some stores, such as containerd's, require all layers. For them applyLayer
// commits a container, which is slower.
func (b *Builder) applyLayer(ctx context.Context, under *existingImage, s layerStep, l *layer) (*existingImage, error) {
	if !b.forceCommit {
		if err := b.loadArchive(ctx, under, s, l); err == nil {
			if f, err := b.findImage(ctx, s); err != nil || f != nil {
				return f, err
			}
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		} else {
			b.log.InfoContext(ctx, "partial image archive refused, committing a container instead", "layer", s.kind, "err", err)
		}
	}
	if err := b.commitLayer(ctx, under, s, l); err != nil {
		return nil, err
	}
	image, err := b.findImage(ctx, s)
	if err == nil && image == nil {
		err = fmt.Errorf("the daemon lost the image %s", s.imageTag())
	}
	return image, err
}

// loadArchive sends an archive in the format of `docker save` without the existing layers.
func (b *Builder) loadArchive(ctx context.Context, under *existingImage, s layerStep, l *layer) error {
	type rootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	type history struct {
		CreatedBy string `json:"created_by"`
	}
	diffIDs := append(slices.Clone(under.diffIDs), l.diffID)
	past := make([]history, len(diffIDs))
	for i := range past {
		past[i].CreatedBy = "company"
	}
	config, err := json.Marshal(map[string]any{
		"architecture": arch,
		"os":           "linux",
		"created":      layerTime.UTC(),
		"config":       imageConfig(s, under),
		"rootfs":       rootFS{Type: "layers", DiffIDs: diffIDs},
		"history":      past,
	})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(config)
	configName := hex.EncodeToString(sum[:]) + ".json"
	paths := make([]string, len(diffIDs))
	for i, id := range diffIDs {
		paths[i] = strings.TrimPrefix(id, "sha256:") + "/layer.tar"
	}
	manifest, err := json.Marshal(
		[]map[string]any{{"Config": configName, "RepoTags": []string{s.imageTag()}, "Layers": paths}})
	if err != nil {
		return err
	}

	pr, pw := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		tw := tar.NewWriter(pw)
		pw.CloseWithError(company.Guard("packing an image layer", func() error {
			for _, f := range []struct {
				name string
				size int64
				r    io.Reader
			}{
				{configName, int64(len(config)), strings.NewReader(string(config))},
				{"manifest.json", int64(len(manifest)), strings.NewReader(string(manifest))},
				{paths[len(paths)-1], l.size, l.newReader()},
			} {
				if err := tw.WriteHeader(
					&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o644, Size: f.size, ModTime: layerTime}); err != nil {
					return err
				}
				if _, err := io.Copy(tw, f.r); err != nil {
					return err
				}
			}
			return tw.Close()
		}))
	}()
	defer func() {
		_ = pr.Close() // ends the writer if the daemon stopped reading
		<-written
	}()

	resp, err := b.docker.ImageLoad(ctx, pr)
	if err != nil {
		return dockerapi.WrapError("load an image", err)
	}
	defer resp.Body.Close()
	return readProgress(resp.Body)
}

// commitLayer unpacks the layer into a container that is never started.
func (b *Builder) commitLayer(ctx context.Context, under *existingImage, s layerStep, l *layer) error {
	return b.withStillContainer(ctx, s, under.id, func(name string) error {
		if err := b.docker.CopyToContainer(
			ctx, name, "/", l.newReader(), dockercontainer.CopyToContainerOptions{}); err != nil {
			return dockerapi.WrapError("unpack an image layer", err)
		}
		return b.commitContainer(ctx, under, s, name)
	})
}

// commitContainer makes the image of a step from a stopped container. It keeps none of the container's
// settings.
func (b *Builder) commitContainer(ctx context.Context, under *existingImage, s layerStep, name string) error {
	config := imageConfig(s, under)
	config.Entrypoint = []string{} // nil would keep the container's
	_, err := b.docker.ContainerCommit(ctx, name, dockercontainer.CommitOptions{Reference: s.imageTag(), Config: &config})
	return dockerapi.WrapError("commit an image layer", err)
}

// readProgress reads the daemon's progress stream to its end. An error in the stream is returned
// whatever the status code was.
func readProgress(r io.Reader) error {
	dec := json.NewDecoder(r)
	for {
		var m struct {
			Error  string `json:"error"`
			Detail struct {
				Message string `json:"message"`
			} `json:"errorDetail"`
		}
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if m.Detail.Message != "" {
			return errors.New(m.Detail.Message)
		}
		if m.Error != "" {
			return errors.New(m.Error)
		}
	}
}
