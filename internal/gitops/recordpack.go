package gitops

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitexec"
)

// WritePack writes commits with their histories, and trees, as one pack to w. It ignores ids that are not in the
// mirror. An error of w is returned unchanged.
func (m *Mirror) WritePack(ctx context.Context, ids []company.OID, w io.Writer) error {
	batch, err := m.s.startBatch(ctx, m.dir, nil, false)
	if err != nil {
		return err
	}
	defer batch.close()
	found, err := batch.readInfos(ids)
	if err != nil {
		return err
	}
	var in strings.Builder
	for i, id := range ids {
		if id.Valid() && found[i].kind != "" {
			fmt.Fprintln(&in, id)
		}
	}
	out := &refusingWriter{w: w}
	_, err = m.s.runOK(ctx, call{
		dir: m.dir, args: []string{"pack-objects", "--revs", "--stdout", "--delta-base-offset", "-q"},
		stdin: strings.NewReader(in.String()), stdout: out,
		config: []gitexec.Setting{{"pack.threads", "1"}}, limit: packLimit,
	})
	if out.err != nil {
		return out.err
	}
	return err
}

// refusingWriter remembers the error of its writer, because git reports only a broken pipe.
type refusingWriter struct {
	w   io.Writer
	err error
}

func (r *refusingWriter) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if err != nil && r.err == nil {
		r.err = err
	}
	return n, err
}

// UnpackMirror creates the mirror of a project in a new store from a pack that WritePack wrote. It creates the folder
// root. It fails with EObjects if the pack is damaged.
func UnpackMirror(ctx context.Context, root, projectID string, pack io.Reader) error {
	if !projectRE.MatchString(projectID) {
		return company.E(company.EInvalid, fmt.Sprintf("invalid project id %q", projectID))
	}
	store, err := Open(Config{Root: root})
	if err != nil {
		return err
	}
	return store.createRepo(ctx, filepath.Join(store.root, projectID+".git"), "base", func(tmp string) error {
		_, err := store.runOK(
			ctx, call{dir: tmp, args: []string{"index-pack", "--stdin", "--keep=record"}, stdin: pack, limited: true,
				limit: packLimit})
		if err != nil && ctx.Err() == nil {
			return company.E(company.EObjects, "the objects of the record are not a valid pack").Wrap(err)
		}
		return err
	})
}
