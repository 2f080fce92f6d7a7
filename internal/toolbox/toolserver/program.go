package toolserver

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"company/internal/toolbox/toolproto"
)

// handleProgram runs a program and sends what it prints as it comes. The program waits while the host does not read,
// and ends with the host's request.
func (s *Server) handleProgram(w http.ResponseWriter, r *http.Request) {
	request, err := readRequest[toolproto.ProgramRequest](w, r, "program")
	if err == nil {
		err = checkProgram(request)
	}
	if err == nil && len(request.Home) > 0 {
		err = s.unpackHome(request.Home)
	}
	if err != nil {
		writeAnswer(w, nil, err)
		return
	}
	place := s.placeIn(s.dir)
	for _, name := range slices.Sorted(maps.Keys(request.Env)) {
		place.env = append(place.env, name+"="+request.Env[name])
	}
	stream := &programStream{enc: json.NewEncoder(w), flush: http.NewResponseController(w)}
	p := &process{command: strings.Join(request.Argv, " "), argv: request.Argv, stdin: bytes.NewReader(request.Stdin),
		printsTo: []io.Writer{stream.newWriter(false), stream.newWriter(true)}}
	if err := s.launchProcess(p, place, ""); err != nil {
		writeAnswer(w, nil, err)
		return
	}
	select {
	case <-p.done:
	case <-r.Context().Done():
		s.stop(p)
	}
	result := p.toResult()
	_ = stream.send(toolproto.ProgramLine{Exit: &toolproto.ProgramExit{ExitCode: result.ExitCode,
		DurationMS: result.DurationMS, Note: p.starved}})
}

// checkProgram refuses a program that the container does not have.
func checkProgram(request toolproto.ProgramRequest) error {
	if len(request.Argv) == 0 || !filepath.IsAbs(request.Argv[0]) {
		return toolproto.Refuse(toolproto.KindArgument, "a program needs an absolute path")
	}
	for _, text := range request.Argv {
		if strings.ContainsRune(text, 0) {
			return toolproto.Refuse(toolproto.KindArgument, "an argument holds a NUL byte")
		}
	}
	info, err := os.Stat(request.Argv[0])
	switch {
	case err != nil:
		return toolproto.Refuse(toolproto.KindNotFound, "there is no %s", request.Argv[0])
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return toolproto.Refuse(toolproto.KindNotFound, "%s is not an executable file", request.Argv[0])
	}
	return nil
}

// programStream sends the output of a program to the host.
type programStream struct {
	mu    sync.Mutex
	enc   *json.Encoder
	flush *http.ResponseController
}

// newWriter returns a writer for stdout or stderr.
func (s *programStream) newWriter(stderr bool) io.Writer {
	return writerFunc(func(data []byte) (int, error) {
		return len(data), s.send(toolproto.ProgramLine{Output: &toolproto.ProgramOutput{Stderr: stderr, Data: data}})
	})
}

func (s *programStream) send(line toolproto.ProgramLine) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.enc.Encode(line); err != nil {
		return err
	}
	return s.flush.Flush()
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(data []byte) (int, error) { return f(data) }
