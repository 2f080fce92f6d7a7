// Package ollama tests company against a real Ollama server, built from its Go
// module. It owns a tiny model with random weights and, behind the build tag
// strangers, the exercise (make strangers/ollama). A random model cannot do a
// job: the exercise covers the wire, the errors, doctor and the budget.
package ollama

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// Sizes of the tiny model. It has a Llama's shape and no knowledge.
const (
	width  = 64 // of the embedding
	hidden = 128
	heads  = 4
	blocks = 2
	window = 65536 // tokens
)

// Types of GGUF.
const (
	ggufUint32  = 4
	ggufFloat32 = 6
	ggufString  = 8
	ggufArray   = 9
	ggufInt32   = 5

	alignment = 32
)

// tinyModel is a GGUF file of a Llama with random weights: a tokenizer of bytes
// (three marks, and one token for each byte) and two blocks.
func tinyModel(seed uint64) []byte {
	tokens, scores, kinds := byteTokens()
	var meta, infos, data bytes.Buffer
	count := 0
	add := func(key string, kind uint32, value any) {
		count++
		str(&meta, key)
		num(&meta, kind)
		put(&meta, value)
	}
	add("general.architecture", ggufString, "llama")
	add("general.name", ggufString, "tiny")
	add("general.alignment", ggufUint32, uint32(alignment))
	add("llama.block_count", ggufUint32, uint32(blocks))
	add("llama.context_length", ggufUint32, uint32(window))
	add("llama.embedding_length", ggufUint32, uint32(width))
	add("llama.feed_forward_length", ggufUint32, uint32(hidden))
	add("llama.attention.head_count", ggufUint32, uint32(heads))
	add("llama.attention.head_count_kv", ggufUint32, uint32(heads))
	add("llama.attention.layer_norm_rms_epsilon", ggufFloat32, float32(1e-5))
	add("llama.rope.dimension_count", ggufUint32, uint32(width/heads))
	add("llama.vocab_size", ggufUint32, uint32(len(tokens)))
	add("tokenizer.ggml.model", ggufString, "llama")
	add("tokenizer.ggml.tokens", ggufArray, tokens)
	add("tokenizer.ggml.scores", ggufArray, scores)
	add("tokenizer.ggml.token_type", ggufArray, kinds)
	add("tokenizer.ggml.bos_token_id", ggufUint32, uint32(1))
	add("tokenizer.ggml.eos_token_id", ggufUint32, uint32(2))
	add("tokenizer.ggml.unknown_token_id", ggufUint32, uint32(0))

	random := rand.New(rand.NewPCG(seed, 1))
	tensors := 0
	tensor := func(name string, value func() float32, shape ...int) {
		tensors++
		str(&infos, name)
		num(&infos, uint32(len(shape)))
		n := 1
		for _, d := range shape {
			num(&infos, uint64(d))
			n *= d
		}
		num(&infos, uint32(0)) // 32 bits a number
		num(&infos, uint64(data.Len()))
		for range n {
			num(&data, value())
		}
		data.Write(make([]byte, (alignment-data.Len()%alignment)%alignment))
	}
	one := func() float32 { return 1 }
	any := func() float32 { return float32(random.NormFloat64()) * 0.2 }
	tensor("token_embd.weight", any, width, len(tokens))
	for i := range blocks {
		b := func(name string) string { return fmt.Sprintf("blk.%d.%s.weight", i, name) }
		tensor(b("attn_norm"), one, width)
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			tensor(b(name), any, width, width)
		}
		tensor(b("ffn_norm"), one, width)
		tensor(b("ffn_gate"), any, width, hidden)
		tensor(b("ffn_up"), any, width, hidden)
		tensor(b("ffn_down"), any, hidden, width)
	}
	tensor("output_norm.weight", one, width)
	tensor("output.weight", any, width, len(tokens))

	var out bytes.Buffer
	out.WriteString("GGUF")
	num(&out, uint32(3))
	num(&out, uint64(tensors))
	num(&out, uint64(count))
	out.Write(meta.Bytes())
	out.Write(infos.Bytes())
	out.Write(make([]byte, (alignment-out.Len()%alignment)%alignment))
	out.Write(data.Bytes())
	return out.Bytes()
}

// byteTokens is a vocabulary that can write any text.
func byteTokens() (tokens []string, scores []float32, kinds []int32) {
	const unknown, control, single = 2, 3, 6
	tokens, kinds = []string{"<unk>", "<s>", "</s>"}, []int32{unknown, control, control}
	for b := range 256 {
		tokens, kinds = append(tokens, fmt.Sprintf("<0x%02X>", b)), append(kinds, single)
	}
	return tokens, make([]float32, len(tokens)), kinds
}

func str(b *bytes.Buffer, s string) {
	num(b, uint64(len(s)))
	b.WriteString(s)
}

// num writes a number of a fixed size; a buffer takes all.
func num(b *bytes.Buffer, n any) {
	if err := binary.Write(b, binary.LittleEndian, n); err != nil {
		panic(err)
	}
}

func put(b *bytes.Buffer, value any) {
	switch v := value.(type) {
	case string:
		str(b, v)
	case []string:
		num(b, uint32(ggufString))
		num(b, uint64(len(v)))
		for _, s := range v {
			str(b, s)
		}
	case []float32:
		num(b, uint32(ggufFloat32))
		num(b, uint64(len(v)))
		num(b, v)
	case []int32:
		num(b, uint32(ggufInt32))
		num(b, uint64(len(v)))
		num(b, v)
	default:
		num(b, v)
	}
}
