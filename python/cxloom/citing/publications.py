"""Publications that parameters and presets name as their sources, as BibTeX has them.

An entry has what identifies a publication: title, authors as far as the sources name them, place and year. `words` is
how sources name it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Publication:
    """A publication."""

    key: str
    words: str
    """A regular expression for how sources name it."""
    kind: str
    """The kind of entry: ``inproceedings``, ``article``, ``misc``, ``manual``."""
    fields: tuple[tuple[str, str], ...]
    dram: str = ""
    """A regular expression for the presets of DRAM that a standard is about; nothing of other publications."""

    def is_about(self, preset: str) -> bool:
        """Whether a source of what has a preset may be this: no standard of other DRAM. Without a preset it may."""
        return not (self.dram and preset) or re.match(self.dram, preset) is not None

    def names(self, source: str) -> bool:
        """Whether a source is this publication."""
        return re.search(self.words, source) is not None

    def bibtex(self) -> str:
        """The entry."""
        width = max(len(name) for name, _ in self.fields)
        lines = [f"  {name:<{width}} = {{{value}}}," for name, value in self.fields]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def _paper(key: str, words: str, author: str, title: str, where: str, year: int) -> Publication:
    fields = (("author", author), ("title", f"{{{title}}}"), ("booktitle", where), ("year", str(year)))
    return Publication(key, words, "inproceedings", fields)


def _preprint(key: str, words: str, author: str, title: str, number: str, year: int) -> Publication:
    fields = (
        ("author", author),
        ("title", f"{{{title}}}"),
        ("eprint", number),
        ("archivePrefix", "arXiv"),
        ("year", str(year)),
    )
    return Publication(key, words, "misc", fields)


def _document(key: str, words: str, organization: str, title: str, dram: str = "") -> Publication:
    return Publication(
        key, words, "manual", (("organization", organization), ("title", f"{{{title}}}")), dram
    )


PUBLICATIONS = (
    Publication(
        "esf",
        r"\bESF\b",
        "misc",
        (("title", "{A Novel Extensible Simulation Framework for CXL-Enabled Systems}"), ("year", "2024")),
    ),
    _document("cxl", r"\bCXL (3|4|Consortium)", "CXL Consortium", "Compute Express Link Specification"),
    _document("pcie", r"PCI Express Base|\bPCIe:", "PCI-SIG", "PCI Express Base Specification"),
    _document("jesd79-4", r"JESD79-4", "JEDEC", "JESD79-4: DDR4 SDRAM", "DDR4"),
    _document("jesd79-5", r"JESD79-5", "JEDEC", "JESD79-5: DDR5 SDRAM", "DDR5|MRDIMM"),
    _document(
        "jesd209-5", r"JESD209-5", "JEDEC", "JESD209-5: Low Power Double Data Rate 5 (LPDDR5)", "LPDDR5"
    ),
    _document(
        "jesd209-6", r"JESD209-6", "JEDEC", "JESD209-6: Low Power Double Data Rate 6 (LPDDR6)", "LPDDR6"
    ),
    _document(
        "intel-optimization",
        r"Architectures Optimization Reference Manual",
        "Intel",
        "Intel 64 and IA-32 Architectures Optimization Reference Manual",
    ),
    _document("linux", r"^Linux\b|Linux, (kernel|mm)/", "The Linux kernel developers", "The Linux kernel"),
    _preprint(
        "cxl-dmsim", r"CXL-DMSim|2411\.02282", "Wang, Yanjing and others",
        "CXL-DMSim: A Full-System CXL Disaggregated Memory Simulator With Comprehensive Silicon Validation",
        "2411.02282", 2024,
    ),
    _preprint("persistent-switches", r"Hadi et al|2503\.04991", "Hadi, Y. and others",
              "The Case for Persistent CXL switches", "2503.04991", 2025),
    _preprint("optane", r"1903\.05714", "Izraelevitz, Joseph and others",
              "Basic Performance Measurements of the Intel Optane DC Persistent Memory Module", "1903.05714", 2019),
    _paper("characterization", r"Wang et al., IPDPS 2025", "Wang and others",
           "Performance Characterization of CXL Memory and Its Use Cases", "IPDPS", 2025),
    _paper("mess", r"Mess|Esmaili-Dokht", "Esmaili-Dokht, Pouya and others",
           "A Mess of Memory System Benchmarking, Simulation and Application Profiling", "MICRO", 2024),
    _paper("tpp", r"\bTPP\b", "Maruf, Hasan Al and others",
           "TPP: Transparent Page Placement for CXL-Enabled Tiered-Memory", "ASPLOS", 2023),
    _paper("hemem", r"HeMem", "Raybuck, Amanda and others",
           "HeMem: Scalable Tiered Memory Management for Big Data Applications and Real NVM", "SOSP", 2021),
    _paper("leap", r"Al Maruf and Chowdhury, ATC 2020", "Al Maruf, Hasan and Chowdhury, Mosharaf",
           "Effectively Prefetching Remote Memory with Leap", "USENIX ATC", 2020),
    _paper("best-offset", r"Michaud, HPCA 2016", "Michaud, Pierre", "Best-Offset Hardware Prefetching", "HPCA", 2016),
    _paper("fdp", r"Srinath et al., HPCA 2007", "Srinath, Santhosh and others",
           "Feedback Directed Prefetching: Improving the Performance and Bandwidth-Efficiency of Hardware Prefetchers",
           "HPCA", 2007),
    _paper("rrip", r"Jaleel et al., ISCA 2010", "Jaleel, Aamer and others",
           "High Performance Cache Replacement Using Re-Reference Interval Prediction (RRIP)", "ISCA", 2010),
    _paper("2q", r"Johnson and Shasha", "Johnson, Theodore and Shasha, Dennis",
           "2Q: A Low Overhead High Performance Buffer Management Replacement Algorithm", "VLDB", 1994),
    _paper("s3-fifo", r"Yang et al., SOSP 2023", "Yang, Juncheng and others",
           "FIFO Queues are All You Need for Cache Eviction", "SOSP", 2023),
    _paper("memory-access-scheduling", r"Rixner et al., ISCA 2000", "Rixner, Scott and others",
           "Memory Access Scheduling", "ISCA", 2000),
    _paper("stfm", r"Mutlu and Moscibroda, MICRO-40", "Mutlu, Onur and Moscibroda, Thomas",
           "Stall-Time Fair Memory Access Scheduling for Chip Multiprocessors", "MICRO", 2007),
    _paper("bliss", r"Subramanian et al., ICCD 2014", "Subramanian, Lavanya and others",
           "The Blacklisting Memory Scheduler: Achieving High Performance and Fairness at Low Cost", "ICCD", 2014),
    _paper("permutation-interleaving", r"Zhang et al., MICRO-33", "Zhang, Zhao and others",
           "A Permutation-based Page Interleaving Scheme to Reduce Row-buffer Conflicts and Exploit Data Locality",
           "MICRO", 2000),
    _paper("dragonfly", r"Kim et al., ISCA 2008", "Kim, John and others",
           "Technology-Driven, Highly-Scalable Dragonfly Topology", "ISCA", 2008),
    _paper("mqsim", r"MQSim", "Tavakkol, Arash and others",
           "MQSim: A Framework for Enabling Realistic Studies of Modern Multi-Queue SSD Devices", "FAST", 2018),
    _paper("ssd-tradeoffs", r"Agrawal et al., ATC 2008", "Agrawal, Nitin and others",
           "Design Tradeoffs for SSD Performance", "USENIX ATC", 2008),
    _paper("optane-guide", r"Yang et al., FAST 2020", "Yang, Jian and others",
           "An Empirical Guide to the Behavior and Use of Scalable Persistent Memory", "FAST", 2020),
    _paper("vans", r"Wang et al., MICRO 2020", "Wang, Zixuan and others",
           "Characterizing and Modeling Non-Volatile Memory Systems", "MICRO", 2020),
    _paper("pcie-performance", r"Neugebauer et al", "Neugebauer, Rolf and others",
           "Understanding PCIe Performance for End Host Networking", "SIGCOMM", 2018),
    _paper("translation-caching", r"Translation Caching", "Barr, Thomas W. and Cox, Alan L. and Rixner, Scott",
           "Translation Caching: Skip, Don't Walk (the Page Table)", "ISCA", 2010),
    _paper("latr", r"LATR", "Kumar, Mohan Kumar and others", "LATR: Lazy Translation Coherence", "ASPLOS", 2018),
)  # fmt: skip
"""What is known, in the order in which it is listed."""
