package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
)

// serveWheels serves made-up packages of Python as PyPI does, and writes the list of
// them into the project.
func serveWheels(d *depsBench) (ups depproxy.Upstreams, stop func(), err error) {
	number, modules := 100, 30
	if d.w.Quick {
		number, modules = 2, 1
	}
	wheels := map[string][]byte{} // by name of the package
	for n := range number {
		name := fmt.Sprintf("benchpart%d", n)
		if wheels[name], err = makeWheel(name, modules); err != nil {
			return ups, nil, err
		}
	}
	sums, list := map[string]string{}, ""
	for _, name := range slices.Sorted(maps.Keys(wheels)) {
		sum := sha256.Sum256(wheels[name])
		sums[name] = hex.EncodeToString(sum[:])
		list += fmt.Sprintf("%s==1.0 --hash=sha256:%s\n", name, sums[name])
	}
	d.client.files = map[string][]byte{"requirements.txt": []byte(list)}
	d.client.quickFiles = d.client.files
	address, stop, err := serveLocally(func(w http.ResponseWriter, r *http.Request) {
		base := path.Base(r.URL.Path)
		name, _, isFile := strings.Cut(base, "-")
		switch {
		case wheels[name] == nil:
			http.NotFound(w, r)
		case isFile:
			_, _ = w.Write(wheels[name])
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, `<a href="../../files/%[1]s#sha256=%[2]s">%[1]s</a>`, wheelFile(name), sums[name])
		}
	})
	if err != nil {
		return ups, nil, err
	}
	d.index = address + "/simple"
	ups.Registries = map[string]ecosystem.Upstream{ecosystem.PyPI: ecosystem.At(ecosystem.Endpoint{URL: d.index})}
	return ups, stop, nil
}

// serveLocally serves a registry of the bench's own on this host until stop.
func serveLocally(handle http.HandlerFunc) (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for the packages of the bench: %w", err)
	}
	web := &http.Server{ReadHeaderTimeout: time.Minute, Handler: handle}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = web.Serve(l) // it ends with stop
	}()
	return "http://" + l.Addr().String(), func() {
		_ = web.Close()
		<-ended
	}, nil
}

func wheelFile(name string) string { return name + "-1.0-py3-none-any.whl" }

// makeWheel is a package of some modules of 4 KB, always the same.
func makeWheel(name string, modules int) ([]byte, error) {
	r := rand.New(rand.NewPCG(1, uint64(len(name))))
	info := name + "-1.0.dist-info/"
	files := map[string]string{
		name + "/__init__.py": "", info + "RECORD": "",
		info + "METADATA": "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n",
		info + "WHEEL":    "Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	}
	for m := range modules {
		var code strings.Builder
		for f := range 40 {
			fmt.Fprintf(&code, "def function_%d(first, second=%d):\n    total = [first * %d for _ in range(second)]\n    "+
				"return sum(total)\n\n", f, r.IntN(1000), r.Uint32())
		}
		files[fmt.Sprintf("%s/part_%d.py", name, m)] = code.String()
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(file)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(files[file])); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
