package jcs

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// TestCanonicalText shows STA-22 on the cases where JSON writers differ.
func TestCanonicalText(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"keys sorted", `{"b":1,"a":{"d":2,"c":3}}`, `{"a":{"c":3,"d":2},"b":1}`},
		{"keys by UTF-16", `{"\uffff":1,"😀":2,"a":3,"":4}`, "{\"\":4,\"a\":3,\"😀\":2,\"\uffff\":1}"},
		{"prefix first", `{"ab":1,"a":2}`, `{"a":2,"ab":1}`},
		{"white space", " { \"a\" : [ 1 , 2 ] } ", `{"a":[1,2]}`},
		{"white space in strings", `" a	b "`, ``},
		{"no HTML escapes", `"<>&\u2028"`, "\"<>&\u2028\""},
		{"control characters", `"\u0000\u001f\b\f\n\r\t\u007f\/\\\""`, "\"\\u0000\\u001f\\b\\f\\n\\r\\t\x7f/\\\\\\\"\""},
		{"no normalisation", `["\u00e9","e\u0301"]`, "[\"\u00e9\",\"e\u0301\"]"},
		{"surrogate pair", `"\ud83d\ude00"`, `"😀"`},
		{"lone surrogate", `"\ud83dx\ude00\ud83d\u0041"`, "\"\ufffdx\ufffd\ufffdA\""},
		{"literals", `[true,false,null,{},[],""]`, `[true,false,null,{},[],""]`},
		{"numbers", `[1.0,1e3,-0,-0.0,0.1,1E-7,1e21,123456789012345,1.5e300,0.000001,-5e-324]`,
			`[1,1000,0,0,0.1,1e-7,1e+21,123456789012345,1.5e+300,0.000001,-5e-324]`},
		{"largest exact integer", `[9007199254740992,-9007199254740992]`, `[9007199254740992,-9007199254740992]`},
		{"integer that no double holds", `9007199254740993`, ``},
		{"integer that would be shortened", `1152921504606846976`, ``},
		{"out of range", `1e400`, ``},
		{"key twice", `{"a":1,"\u0061":2}`, ``},
		{"not JSON", `{a:1}`, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Marshal(json.RawMessage(tc.in))
			if tc.want == "" {
				if err == nil {
					t.Fatalf("Marshal(%s) = %s, %v; want %s", tc.in, got, err, "an error")
				}
				return
			}
			if err != nil || string(got) != tc.want {
				t.Fatalf("Marshal(%s) = %s, %v; want %s", tc.in, got, err, tc.want)
			}
		})
	}
}

func TestCanonicalRefusesWhatHasNoJSON(t *testing.T) {
	for _, v := range []any{math.NaN(), math.Inf(1), func() {}, make(chan int)} {
		if _, err := Marshal(v); err == nil {
			t.Errorf("Marshal(%T) = %v, want %s", v, err, "an error")
		}
	}
}

// jsonValue draws any JSON value.
func jsonValue(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.String().AsAny(),
		rapid.Float64().AsAny(),
		rapid.Float64Range(-1e22, 1e22).AsAny(),
		rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(n int64) float64 { return float64(n) }).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	return rapid.OneOf(append(leaves,
		rapid.SliceOfN(jsonValue(depth-1), 0, 4).AsAny(),
		rapid.MapOfN(rapid.String(), jsonValue(depth-1), 0, 4).AsAny())...)
}

// Feature: canonical JSON, Property 1: Canonical Form Is a Fixed Point
//
// TestCanonicalProperties: the text means what the value meant, is a fixed
// point, and does not depend on how the input was written (STA-22).
func TestCanonicalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := jsonValue(3).Draw(t, "value")
		text, err := Marshal(v)
		if err != nil {
			t.Fatalf("Marshal(%#v): %v", v, err)
		}

		std, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(std, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s is not JSON: %v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s means %#v, want %#v", text, got, want)
		}

		var indented bytes.Buffer
		if err := json.Indent(&indented, std, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		for _, form := range []json.RawMessage{text, std, indented.Bytes()} {
			again, err := Marshal(form)
			if err != nil || !bytes.Equal(again, text) {
				t.Fatalf("Marshal(%s) = %s, %v; want %s", form, again, err, text)
			}
		}
		if strings.TrimSpace(string(text)) != string(text) {
			t.Fatalf("%q has white space around it", text)
		}
	})
}

// Feature: canonical JSON, Property 2: Key Order
//
// TestCanonicalKeyOrder compares with the definition: keys as UTF-16 units (STA-22).
func TestCanonicalKeyOrder(t *testing.T) {
	awkward := rapid.StringOf(rapid.SampledFrom([]rune{'a', 'b', 0xe9, 0xd7ff, 0xe000, 0xfffe, 0x10000, 0x10ffff}))
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.OneOf(awkward, rapid.String()), 2, 6, rapid.ID[string]).Draw(t, "keys")
		m := map[string]int{}
		for i, k := range keys {
			m[k] = i
		}
		text, err := Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		var last []uint16
		for first := true; d.More() || first; {
			tok, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			key, ok := tok.(string)
			if !ok {
				continue // the brace, and numbers
			}
			units := utf16.Encode([]rune(key))
			if !first && !lessUnits(last, units) {
				t.Fatalf("%s: %v before %v", text, last, units)
			}
			last, first = units, false
		}
	})
}

func lessUnits(a, b []uint16) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return len(a) < len(b)
}

func FuzzMarshal(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5e-9,"\ud800\u0041\\\""],"":null}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		text, err := Marshal(json.RawMessage(in))
		if err != nil {
			return
		}
		again, err := Marshal(json.RawMessage(text))
		if err != nil || !bytes.Equal(again, text) {
			t.Fatalf("Marshal(%q) = %q, then %q, %v", in, text, again, err)
		}
	})
}
