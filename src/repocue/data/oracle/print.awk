# Prints the sorted records without their sort keys, each once, and to standard error the limitations, summed, in
# bytewise order: limitation <TAB> code <TAB> count.

BEGIN { FS = "\t" }

$1 == "!" {
  if (!($2 in counts)) codes[++n] = $2
  counts[$2] += $3
  next
}

{
  sub(/^[^\t]*\t[^\t]*\t[^\t]*\t/, "")
  if ($0 in seen) next
  if (printed >= MAX_RECORDS) {
    if (!beyond++) codes[++n] = "candidate-beyond-bound"
    counts["candidate-beyond-bound"] = beyond
    next
  }
  seen[$0] = 1
  printed++
  print
}

END {
  for (i = 2; i <= n; i++) {
    code = codes[i]
    for (j = i - 1; j > 0 && codes[j] > code; j--) codes[j + 1] = codes[j]
    codes[j + 1] = code
  }
  for (i = 1; i <= n; i++) printf "limitation\t%s\t%d\n", codes[i], counts[codes[i]] > "/dev/stderr"
}
