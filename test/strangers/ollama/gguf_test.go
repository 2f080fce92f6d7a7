package ollama

import (
	"bytes"
	"testing"
)

func TestTinyModel(t *testing.T) {
	file := tinyModel(1)
	if !bytes.HasPrefix(file, []byte("GGUF\x03\x00\x00\x00")) || len(file)%alignment != 0 || len(file) > 1<<20 {
		t.Errorf("%d bytes that begin with %q", len(file), file[:8])
	}
	if !bytes.Equal(file, tinyModel(1)) || bytes.Equal(file, tinyModel(2)) {
		t.Error("the weights are not the seed's")
	}
	tokens, scores, kinds := byteTokens()
	if len(tokens) != 259 || len(scores) != 259 || len(kinds) != 259 || tokens[3+'a'] != "<0x61>" {
		t.Errorf("%d tokens, %d scores, %d kinds", len(tokens), len(scores), len(kinds))
	}
}
