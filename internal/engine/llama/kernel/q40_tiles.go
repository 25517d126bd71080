//go:build amd64 || arm64

package kernel

import "unsafe"

// batch is the number of vectors for which a kernel unpacks weights once. Its sums
// lie side by side: in the output they could be in one set of the cache.
const batch = 32

// skip is the size of the packed blocks of the vectors other than n.
func (m q40Product) skip(n int) int { return (m.n - n) * int(unsafe.Sizeof(Packed{})) }
